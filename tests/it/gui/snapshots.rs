//! Pictures of the window, compared with stored ones: small ones of its own, and those of the book, which so stay true. They are painted
//! without a graphics card, so they are the same everywhere but for rounding. `AGOGIC_UPDATE_SNAPSHOTS=1 cargo test --test it snapshots`
//! stores them anew. The book's pictures of a real recording are made from files that are not part of the repository:
//! `AGOGIC_BOOK_PIECE=AUDIO:SCORE:TRUTH cargo test --test it snapshots -- --ignored`.

use std::path::{Path, PathBuf};

use agogic::window::picture::{PictureArea, PictureFormat, PictureOptions};
use agogic::window::{AppState, Command, PaneKind, SideTab, ThemeChoice};
use agogic::{Aligner, Anchor, FrameMethod, Method, Settings};

use super::{Bench, folder, open};

/// Stored pictures are this much smaller than the window, so that they are light; those of the book are read and as large as it.
const SMALLER: usize = 2;
const SIZE: [u32; 2] = [1040, 680];
const BOOK_SIZE: [u32; 2] = [1440, 844];
/// Values of a channel that differ by more than this are seen.
const SEEN: u8 = 24;
/// How many pixels may be seen to differ, as a share.
const MOST_SEEN: f64 = 0.004;
/// How much values may differ on average.
const MOST_MEAN: f64 = 0.6;

/// Red, green and blue of every pixel.
struct Image {
    width: usize,
    height: usize,
    rgb: Vec<u8>,
}

impl Image {
    /// What the window shows, each pixel the mean of `smaller` times `smaller` painted ones.
    fn of(bench: &Bench, area: PictureArea, size: [u32; 2], smaller: usize) -> Self {
        let options = PictureOptions { area, format: PictureFormat::Png, size, detail: 1, path: PathBuf::new() };
        let window = bench.harness.state().borrow();
        let pixels = window.as_ref().unwrap().picture(&bench.harness.ctx, &options).pixels();
        let (width, height) = (pixels.size[0] / smaller, pixels.size[1] / smaller);
        let mut rgb = Vec::with_capacity(width * height * 3);
        for row in 0..height {
            for column in 0..width {
                for channel in 0..3 {
                    let square = (0..smaller * smaller)
                        .map(|at| (smaller * column + at % smaller, smaller * row + at / smaller));
                    let sum: usize =
                        square.map(|(x, y)| usize::from(pixels.rgba[4 * (y * pixels.size[0] + x) + channel])).sum();
                    rgb.push(((sum + smaller * smaller / 2) / (smaller * smaller)) as u8);
                }
            }
        }
        Self { width, height, rgb }
    }

    fn read(path: &Path) -> Option<Self> {
        let file = std::io::BufReader::new(std::fs::File::open(path).ok()?);
        let mut reader = png::Decoder::new(file).read_info().unwrap();
        let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut rgb).unwrap();
        Some(Self { width: info.width as usize, height: info.height as usize, rgb })
    }

    fn write(&self, path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut encoder =
            png::Encoder::new(std::fs::File::create(path).unwrap(), self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_compression(png::Compression::High);
        encoder.set_filter(png::Filter::Adaptive);
        encoder.write_header().unwrap().write_image_data(&self.rgb).unwrap();
    }

    /// Mean difference, share of pixels that are seen to differ, and a picture of them.
    fn compare(&self, other: &Self) -> (f64, f64, Self) {
        let differences: Vec<u8> = self.rgb.iter().zip(&other.rgb).map(|(a, b)| a.abs_diff(*b)).collect();
        let mean = differences.iter().map(|&d| f64::from(d)).sum::<f64>() / differences.len() as f64;
        let seen = differences.chunks(3).filter(|pixel| pixel.iter().any(|&d| d > SEEN)).count();
        let rgb = differences.iter().map(|d| d.saturating_mul(4)).collect();
        (mean, seen as f64 / (differences.len() / 3) as f64, Self { rgb, ..*self })
    }
}

/// A picture of the window for this suite alone.
fn check(name: &str, bench: &Bench, area: PictureArea, size: [u32; 2]) -> Image {
    let image = Image::of(bench, area, size, SMALLER);
    compare_with_stored("tests/snapshots", name, &image);
    image
}

/// A picture of the book.
fn check_book(name: &str, bench: &Bench) {
    compare_with_stored("docs/src/pictures", name, &Image::of(bench, PictureArea::Window, BOOK_SIZE, 1));
}

fn compare_with_stored(folder: &str, name: &str, image: &Image) {
    let stored = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(format!("{name}.png"));
    if std::env::var_os("AGOGIC_UPDATE_SNAPSHOTS").is_some() {
        image.write(&stored);
        return;
    }
    let failed = Path::new(env!("CARGO_TARGET_TMPDIR")).join("snapshots");
    let actual = failed.join(format!("{name}.png"));
    let Some(expected) = Image::read(&stored) else {
        image.write(&actual);
        panic!("{} is missing; what it would be is {}", stored.display(), actual.display());
    };
    assert_eq!((image.width, image.height), (expected.width, expected.height), "{name}");
    let (mean, seen, difference) = image.compare(&expected);
    if mean > MOST_MEAN || seen > MOST_SEEN {
        image.write(&actual);
        difference.write(&failed.join(format!("{name}-difference.png")));
        panic!(
            "{name} looks different: {mean:.2} on average, {:.2} % of the pixels; see {} and {name}-difference.png beside it",
            100.0 * seen,
            actual.display()
        );
    }
}

/// The demo, aligned, with its spectrum, in a theme.
fn demo(folder: &Path, theme: ThemeChoice) -> Bench {
    let mut bench = Bench::new(folder, Vec::new());
    bench.wait_until_aligned();
    bench.wait("listening", |state| open(state).heard.is_some());
    bench.apply(Command::SetTheme(theme));
    bench.harness.run_ok();
    bench
}

/// Shows this stretch of the recording.
fn look_at(bench: &mut Bench, start_s: f64, span_s: f64) {
    let mut view = bench.read(AppState::view);
    (view.start_s, view.span_s) = (start_s, span_s);
    bench.apply(Command::SetView(view));
}

#[test]
fn the_demo_looks_as_it_should_in_light_and_dark() {
    let folder = folder();
    let mut bench = demo(folder.path(), ThemeChoice::Light);
    check("demo-light", &bench, PictureArea::Window, SIZE);
    bench.apply(Command::SetTheme(ThemeChoice::Dark));
    bench.harness.run_ok();
    let dark = check("demo-dark", &bench, PictureArea::Window, SIZE);
    let (_, seen, _) = dark.compare(&Image { rgb: vec![255; dark.rgb.len()], ..dark });
    assert!(seen > 0.9, "a comparison with white must fail");
}

#[test]
fn compared_alignments_and_a_pane_of_its_own_look_as_they_should() {
    let folder = folder();
    let mut bench = demo(folder.path(), ThemeChoice::Light);
    bench.apply(Command::Keep);
    let frames = Method::Frames(FrameMethod { aligner: Aligner::Dtw, ..FrameMethod::default() });
    bench.apply(Command::SetSettings(Settings { method: frames, ..Settings::default() }));
    bench.apply(Command::Align);
    bench.wait("aligning", |state| !state.needs_aligning() && state.work.is_none());
    bench.apply(Command::ShowSide(SideTab::Compare));
    bench.apply(Command::GoTo(20.0));
    bench.harness.run_ok();
    check("compare", &bench, PictureArea::Window, SIZE);
    check("warp-pane", &bench, PictureArea::Pane(PaneKind::Warp), [800, 400]);
    check("staff-pane", &bench, PictureArea::Pane(PaneKind::Staff), [900, 300]);
}

#[test]
fn the_pictures_of_the_book_show_the_window_as_it_is() {
    let folder = folder();
    let mut bench = demo(folder.path(), ThemeChoice::Light);
    check_book("demo", &bench);

    bench.apply(Command::ShowSide(SideTab::Tune));
    check_book("fine-tuning", &bench);

    bench.apply(Command::ShowSide(SideTab::Align));
    bench.apply(Command::SetTheme(ThemeChoice::Dark));
    bench.apply(Command::ToggleWarpDifference);
    check_book("dark", &bench);
    bench.apply(Command::ToggleWarpDifference);
    bench.apply(Command::SetTheme(ThemeChoice::Light));

    // The first onset of bar 4 is dragged to the left, as the tutorial says, and still held.
    let (score_s, performance_s) = bench.onset(BAR_4);
    look_at(&mut bench, performance_s - 5.5, 13.0);
    bench.apply(Command::Select(Some(score_s)));
    bench.apply(Command::Drag(Anchor { score_s, performance_s: performance_s - 0.35 }));
    bench.wait("solving", |state| open(state).preview.is_some());
    check_book("correcting", &bench);
}

/// The onset at which bar 4 of the demo begins: sixteen a bar.
const BAR_4: usize = 48;

#[test]
#[ignore = "makes pictures of a real recording, which is not part of the repository"]
fn pictures_of_a_real_recording() {
    let files = std::env::var("AGOGIC_BOOK_PIECE").expect("AGOGIC_BOOK_PIECE=AUDIO:SCORE:TRUTH");
    let folder = folder();
    let mut bench = Bench::new(folder.path(), files.split(':').map(PathBuf::from).collect());
    bench.wait_until_aligned();
    bench.wait("the reference", |state| state.solution().is_some_and(|solution| solution.metrics.is_some()));
    bench.wait("listening", |state| open(state).heard.is_some());
    bench.apply(Command::SetTheme(ThemeChoice::Light));
    let pictures = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/src/pictures");
    look_at(&mut bench, 6.0, 25.0);
    Image::of(&bench, PictureArea::Window, BOOK_SIZE, 1).write(&pictures.join("real-recording.png"));
    for pane in [PaneKind::Warp, PaneKind::Tempo] {
        bench.apply(Command::TogglePane(pane));
    }
    bench.apply(Command::ToggleSidePanel);
    bench.apply(Command::ForgetReference);
    bench.wait("the end of the comparison", |state| state.reference().is_none());
    look_at(&mut bench, 11.0, 15.0);
    Image::of(&bench, PictureArea::Window, [1440, 760], 1).write(&pictures.join("staff.png"));
}
