//! `agogic train`, `fine-tune`, `model` and `experiment` on the demo piece.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::support::{Run, agogic, program};
use tempfile::TempDir;

/// A folder with copies of the demo as labelled pieces: two side by side, and the parts of an experiment.
struct Data {
    folder: TempDir,
}

impl Data {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let files = agogic::demo_piece::files().map(|(_, bytes)| bytes);
        let parts = ["experiment/train/one", "experiment/validation/one", "experiment/test/one"];
        for part in ["pieces/one", "pieces/two"].into_iter().chain(parts) {
            write_piece(&folder.path().join(part), files);
        }
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// Trains or tunes an extractor, with its features cached in this folder.
    fn run(&self, args: &[&str]) -> Run {
        agogic(args.iter().copied().map(str::to_owned).chain(["--cache".to_owned(), self.text("cache")]))
    }

    fn train(&self, epochs: &str) -> Run {
        let (pieces, model) = (self.text("pieces/one"), self.text("model.safetensors"));
        let args = ["train", &pieces, "--validation", &pieces, "--kind", "extractor", "--features", "chroma"];
        self.run(&[&args[..], &["-o", &model, "--epochs", epochs]].concat())
    }
}

fn write_piece(folder: &Path, files: [&[u8]; 3]) {
    std::fs::create_dir_all(folder).unwrap();
    for (bytes, name) in files.into_iter().zip(["audio.ogg", "score.mid", "alignment.csv"]) {
        std::fs::write(folder.join(name), bytes).unwrap();
    }
}

#[test]
fn a_trained_model_can_be_shown_listed_used_and_fine_tuned() {
    let data = Data::new();
    let run = data.train("2").ok();
    assert!(
        run.stdout.contains("best of 2 epochs") && run.stderr.contains("epoch   2:"),
        "{}{}",
        run.stdout,
        run.stderr
    );
    let model = data.text("model.safetensors");

    let card = agogic(["model", "show", &model]).ok().json();
    assert_eq!(
        (&card["name"], &card["kind"], &card["features"]),
        (&"model".into(), &"extractor".into(), &"chroma".into())
    );
    let command = card["training"]["command"].as_str().unwrap();
    assert!(command.starts_with("agogic train one --validation one --kind extractor --features chroma"), "{command}");
    assert!(!command.contains(data.folder.path().to_str().unwrap()), "no folder of this machine: {command}");
    let list = agogic(["model", "list", data.folder.path().to_str().unwrap()]).ok().stdout;
    assert!(
        list.contains("mel: extractor, Mel") && list.contains("ear: ear") && list.contains("model: extractor, Chroma"),
        "{list}"
    );

    let piece = |name: &str| data.text(&format!("pieces/one/{name}"));
    let (audio, score, truth) = (piece("audio.ogg"), piece("score.mid"), piece("alignment.csv"));
    let options = ["--method", "frames", "--features", "chroma", "--extractor", &model, "--truth", &truth, "--json"];
    let aligned = agogic(["align", &audio, &score].into_iter().chain(options)).ok();
    assert!(aligned.time_err_ms() < 150.0, "{}", aligned.stdout);
    let wrong = agogic(["align", &audio, &score, "--method", "frames", "--features", "mel", "--extractor", &model]);
    assert!(wrong.code == Some(1) && wrong.stderr.contains("trained on Chroma"), "{}", wrong.stderr);

    let pieces = data.text("pieces/one");
    let tuned = data.text("tuned.safetensors");
    let fine_tune = |rate: &str, output: &str| {
        let args = ["fine-tune", &model, &pieces, "--validation", &pieces, "--epochs", "2", "--learning-rate", rate];
        data.run(&[&args[..], &["-o", output]].concat())
    };
    fine_tune("0.002", &tuned).ok();
    let card = agogic(["model", "show", &tuned]).ok().json();
    assert_eq!(card["training"]["fine_tuned_from"], "model");

    let before = std::fs::read(&model).unwrap();
    let refused = fine_tune("0.5", &model);
    assert_eq!(refused.code, Some(1), "{}", refused.stdout);
    assert!(refused.stderr.contains("worse") && refused.stderr.contains("not changed"), "{}", refused.stderr);
    assert_eq!(std::fs::read(&model).unwrap(), before);
}

#[test]
fn a_killed_training_loses_no_finished_epoch_and_ends_as_if_it_had_not_been() {
    let data = Data::new();
    data.train("3").ok();
    let (model, checkpoint) = (data.path("model.safetensors"), data.path("model.checkpoint"));
    let expected = std::fs::read(&model).unwrap();
    std::fs::remove_file(&model).unwrap();

    let pieces = data.text("pieces/one");
    let mut child = program()
        .args([
            "train",
            &pieces,
            "--validation",
            &pieces,
            "--kind",
            "extractor",
            "--features",
            "chroma",
            "--epochs",
            "3",
        ])
        .args(["-o", model.to_str().unwrap(), "--cache", &data.text("cache")])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let told = BufReader::new(child.stderr.take().unwrap());
    let finished = told.lines().map_while(Result::ok).find(|line| line.contains("epoch   1:"));
    // No signal that it could catch.
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(finished.is_some() && checkpoint.exists() && !model.exists());
    let resumed = data.train("3").ok();
    assert!(!resumed.stderr.contains("epoch   1:"), "the first epoch is not done again: {}", resumed.stderr);
    assert!(resumed.stderr.contains("epoch   3:") && resumed.stdout.contains("of 3 epochs"), "{}", resumed.stdout);
    assert_eq!(std::fs::read(&model).unwrap(), expected);
    assert!(!checkpoint.exists());
}

#[test]
fn an_experiment_prints_every_method_under_both_aligners_and_does_not_train_twice() {
    let data = Data::new();
    let (parts, models) = (data.text("experiment"), data.text("models"));
    let experiment = |more: &[&str]| {
        let args = ["experiment", &parts, "--features", "chroma", "--epochs", "1", "--models", &models];
        data.run(&[&args[..], more].concat()).ok()
    };
    let first = experiment(&[]);
    for words in ["**test** under DTW", "**test** under GDTW", "| base | softdtw | along-gt | dilate | decdtw |"] {
        assert!(first.stdout.contains(words), "{words}: {}", first.stdout);
    }
    assert!(first.stderr.contains("epoch 1"), "{}", first.stderr);
    let second = experiment(&["--json"]);
    assert!(!second.stderr.contains("epoch"), "{}", second.stderr);
    let rows = second.json();
    assert_eq!(rows.as_array().unwrap().len(), 5);
    assert!(rows[4]["gdtw"]["time_err_ms"].as_f64().unwrap() > 0.0);
}

#[test]
fn data_and_models_that_cannot_be_used_are_explained() {
    let data = Data::new();
    let empty = data.path("empty");
    std::fs::create_dir(&empty).unwrap();
    let none = agogic(["train", empty.to_str().unwrap()]);
    assert!(none.code == Some(1) && none.stderr.contains("no labelled piece"), "{}", none.stderr);
    let split = agogic(["train", &data.text("pieces"), "--epochs", "1", "-o", &data.text("split.safetensors")]);
    assert!(split.code == Some(1) && split.stderr.contains("two scores"), "{}", split.stderr);
    let built_in = data.run(&["fine-tune", "mel", &data.text("pieces")]);
    assert!(built_in.code == Some(2) && built_in.stderr.contains("--output"), "{}", built_in.stderr);
    let damaged = data.path("damaged.safetensors");
    std::fs::write(&damaged, "not a model").unwrap();
    let shown = agogic(["model", "show", damaged.to_str().unwrap()]);
    assert!(shown.code == Some(1) && shown.stderr.contains("no sound safetensors file"), "{}", shown.stderr);
    let import = agogic(["model", "import", damaged.to_str().unwrap(), "-o", &data.text("imported.safetensors")]);
    assert_eq!(import.code, Some(1), "{}", import.stderr);
}

#[test]
fn an_ear_is_trained_from_notes_tuned_through_the_alignment_moved_and_used() {
    let data = Data::new();
    let (pieces, ear) = (data.text("pieces/one"), data.text("my ear.safetensors"));
    let train =
        ["train", &pieces, "--validation", &pieces, "--small", "--epochs", "2", "--licence", "CC0-1.0", "-o", &ear];
    let run = agogic(train).ok();
    assert!(run.stdout.contains("best of 2 epochs") && run.stderr.contains("validation TimeErr"), "{}", run.stderr);
    let card = agogic(["model", "show", &ear]).ok().json();
    assert_eq!((&card["kind"], &card["training"]["method"]), (&"ear".into(), &"notes".into()));

    let tuned = data.text("tuned.safetensors");
    let tune = ["fine-tune", &ear, &pieces, "--validation", &pieces, "--epochs", "2", "--learning-rate", "0.002"];
    agogic([&tune[..], &["--method", "alignment", "-o", &tuned]].concat()).ok();
    let card = agogic(["model", "show", &tuned]).ok().json();
    let told = (&card["training"]["fine_tuned_from"], &card["training"]["method"]);
    assert_eq!(told, (&"my ear".into(), &"alignment".into()));
    assert_eq!(card["licence"], "unknown", "the terms of the ear that it was tuned from are not its own");

    // One file is the whole model: it can be moved by itself.
    std::fs::create_dir(data.path("elsewhere")).unwrap();
    let moved = data.text("elsewhere/renamed");
    std::fs::rename(&tuned, &moved).unwrap();
    let piece = |name: &str| data.text(&format!("pieces/one/{name}"));
    let (audio, score, truth) = (piece("audio.ogg"), piece("score.mid"), piece("alignment.csv"));
    let aligned = agogic(["align", &audio, &score, "--ear", &moved, "--truth", &truth, "--json"]).ok();
    // An ear that learned for seconds is used as it is told.
    assert!(aligned.time_err_ms().is_finite(), "{}", aligned.stdout);

    let before = std::fs::read(&moved).unwrap();
    let refused =
        agogic(["fine-tune", &moved, &pieces, "--validation", &pieces, "--epochs", "1", "--learning-rate", "5"]);
    assert!(refused.code == Some(1) && refused.stderr.contains("not changed"), "{}", refused.stderr);
    assert_eq!(std::fs::read(&moved).unwrap(), before);
}

#[test]
fn options_and_models_of_the_other_kind_are_refused_with_the_name_of_theirs() {
    let data = Data::new();
    let pieces = data.text("pieces/one");
    let refused = |args: &[&str], words: &[&str]| {
        let run = agogic(args);
        assert_eq!(run.code, Some(2), "{args:?}: {}", run.stderr);
        assert!(words.iter().all(|word| run.stderr.contains(word)), "{args:?}: {}", run.stderr);
    };
    let cache = data.text("cache");
    let of_extractor: [&[&str]; 5] = [
        &["--features", "mel"],
        &["--lambda", "1"],
        &["--learn-lambda"],
        &["--cache", &cache],
        &["--method", "dilate"],
    ];
    for option in of_extractor {
        refused(&[&["train", &pieces][..], option].concat(), &[option[0], "--kind extractor", "--kind ear"]);
    }
    refused(&["train", &pieces, "--kind", "extractor", "--method", "notes"], &["--method notes", "--kind ear"]);
    let plain = ["train", &pieces, "--method", "alignment", "--init", "small", "--no-augmentation"];
    refused(&plain, &["--no-augmentation", "--method notes"]);
    refused(&["train", &pieces, "--kind", "extractor", "--small"], &["--small", "--kind ear"]);
    refused(&["train", &pieces, "--init", "onsets", "--small"], &["--small", "--init"]);
    refused(&["train", &pieces, "--init", "mel"], &["is an extractor", "--extractor"]);
    refused(&["train", &pieces, "--kind", "extractor", "--init", "small"], &["is an ear", "--ear"]);
    let output = data.text("tuned.safetensors");
    refused(&["fine-tune", "small", &pieces, "--method", "decdtw", "-o", &output], &["--kind extractor"]);
    refused(&["experiment", &pieces, "--methods", "notes"], &["--method notes", "--kind ear"]);
    refused(&["train", &pieces, "--device", "abacus"], &["auto, cpu, gpu, cuda or metal"]);
    if !cfg!(feature = "cuda") {
        let run = agogic(["train", &pieces, "--device", "cuda"]);
        assert!(run.code == Some(1) && run.stderr.contains("--features cuda"), "{}", run.stderr);
    }
}

#[test]
fn an_ear_trained_in_pytorch_is_imported_with_what_is_said_of_it() {
    let data = Data::new();
    let checkpoint = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/ear/tiny.pt");
    let output = data.text("imported.safetensors");
    let import = ["model", "import", checkpoint, "-o", &output];
    let said = ["--name", "mine", "--licence", "CC0-1.0", "--training", "data=my pieces", "--metric", "tune_ms=3.5"];
    let run = agogic([&import[..], &said].concat()).ok();
    assert!(run.stdout.starts_with("mine: ear of 6 channels and 4 units") && run.stdout.contains("CC0-1.0"));
    let card: serde_json::Value = serde_json::from_str(&agogic(["model", "show", &output]).ok().stdout).unwrap();
    assert_eq!((&card["metrics"]["tune_ms"], &card["training"]["data"]), (&3.5.into(), &"my pieces".into()));
    for wrong in [["--metric", "tune_ms=fast"], ["--metric", "3.5"], ["--training", "=x"]] {
        let run = agogic([&import[..], &wrong].concat());
        assert!(run.code == Some(2) && run.stderr.contains(wrong[0]), "{}", run.stderr);
    }
}

#[test]
fn no_training_replaces_what_it_reads() {
    let data = Data::new();
    let pieces = data.text("pieces/one");
    let kept = |args: &[&str], input: &str| {
        let before = std::fs::read(input).unwrap();
        let run = agogic(args);
        assert!(run.code == Some(2) && run.stderr.contains("which is read"), "{args:?}: {}", run.stderr);
        assert_eq!(std::fs::read(input).unwrap(), before);
    };
    for name in ["audio.ogg", "score.mid", "alignment.csv"] {
        let input = data.text(&format!("pieces/one/{name}"));
        kept(&["train", &pieces, "-o", &input], &input);
        kept(&["fine-tune", "small", &pieces, "-o", &input], &input);
    }
    let model = data.text("model.safetensors");
    std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join("small.safetensors"), &model).unwrap();
    kept(&["train", &pieces, "--init", &model, "-o", &model], &model);
    kept(&["model", "import", &model, "-o", &model], &model);
}

#[test]
fn an_output_that_cannot_be_written_is_told_before_the_training() {
    let data = Data::new();
    let pieces = data.text("pieces/one");
    let run = agogic(["train", &pieces, "--validation", &pieces, "-o", &data.text("missing/model.safetensors")]);
    assert!(run.code == Some(1) && run.stderr.contains("folder does not exist"), "{}", run.stderr);
    assert!(!run.stderr.contains("epoch"), "{}", run.stderr);
}

#[test]
fn no_epochs_are_refused() {
    let run = agogic(["train", ".", "--epochs", "0"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("--epochs"), "{}", run.stderr);
}
