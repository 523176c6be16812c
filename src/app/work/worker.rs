//! Long work on named threads. Every event carries the id of its job; events of a job that was replaced are dropped.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::classify::Classified;
use super::computing::Computing;
use super::tasks::{self, ModelPurpose, Task};
use crate::app::document::Heard;
use crate::app::document::fingerprint::Fingerprint;
use crate::app::document::relink::Reopened;
use crate::app::document::source::{Order, Source};
use crate::app::document::view_model::{Piece, Reference, Solution};
use crate::app::playback::OutputDevice;
use crate::app::state::Writing;
use crate::app::tuning::{LabelledPiece, Outcome};
use crate::audio::AudioClip;
use crate::base::error::Error;
use crate::base::job::JobContext;
use crate::devices::{DeviceChoice, DeviceInfo, Notify};
use crate::learning::TrainEvent;
use crate::networks::Device;
use crate::networks::ModelCard;

/// Tells one job from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobId(u64);

/// Kinds of work. Of most, only the latest job counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// Reading, aligning, comparing.
    Align,
    /// Solving a stretch while an onset is dragged.
    Drag,
    /// Listening to the recording.
    Listen,
    /// Reading another recording of the score, to be heard.
    Other,
    /// Playing the score for the ear.
    Sound,
    /// Playing a MIDI performance for the ear.
    Perform,
    /// Writing an alignment.
    Export,
    /// Saving the session.
    Save,
    /// Keeping the session safe from a crash.
    Autosave,
    /// A file dialog of the system.
    Dialog,
    /// Training a model.
    Train,
    /// Asking for sound devices.
    Devices,
    /// Asking for devices to compute on.
    Cards,
    /// Reading a model.
    Model,
    /// Looking whether the files of the piece are still the same.
    Check,
    /// Looking into files that the user has chosen: every job counts.
    Files,
}

const SLOTS: usize = 16;

/// What a job tells.
#[derive(Debug)]
pub enum Event {
    /// How far it is.
    Progress {
        /// The stage in plain words.
        stage: String,
        /// Share of the stage that is done.
        fraction: f32,
    },
    /// The files were read.
    Opened {
        /// The piece.
        piece: Arc<Piece>,
        /// What to compare with.
        reference: Option<Arc<Reference>>,
        /// What is wrong with the file that was to be compared with.
        bad_reference: Option<Error>,
    },
    /// A session was read, and its files were found or not.
    Reopened(Box<Reopened>),
    /// Where sound can go to.
    Devices(Vec<OutputDevice>),
    /// What can be computed on.
    Cards(Vec<DeviceInfo>),
    /// Something that the user should know, while the job goes on.
    Notice(String),
    /// An alignment was found.
    Solved {
        /// The alignment.
        solution: Arc<Solution>,
        /// What was heard of the recording, if that was not known before.
        heard: Option<Heard>,
        /// Whether the whole piece was aligned again.
        again: bool,
    },
    /// How a stretch would be solved if the onset were let go here.
    Previewed(Arc<Solution>),
    /// A reference was read (or dropped) and the alignment compared with it.
    Compared {
        /// Where it came from.
        source: Option<Source>,
        /// Its times.
        reference: Option<Arc<Reference>>,
        /// The alignment, compared.
        solution: Arc<Solution>,
    },
    /// The recording was listened to.
    Listened(Heard),
    /// Another recording was read.
    Decoded {
        /// Where it is.
        source: Source,
        /// What is heard.
        clip: Arc<AudioClip>,
    },
    /// A MIDI performance sounds otherwise.
    Performed {
        /// The piece as it was.
        before: Arc<Piece>,
        /// The piece as it sounds now.
        performed: Arc<Piece>,
    },
    /// The score sounds.
    Sound(Arc<AudioClip>),
    /// A file was written.
    Written(PathBuf),
    /// The session was saved.
    Saved {
        /// Where.
        path: PathBuf,
        /// The last change that is in it.
        revision: u64,
        /// What the file holds now.
        holds: Fingerprint,
    },
    /// Sentences about files of the piece that have changed.
    Checked(Vec<String>),
    /// The session is safe from a crash up to this change.
    Autosaved(u64),
    /// The user chose files; none if the dialog was closed.
    Picked(Vec<PathBuf>),
    /// Nothing was written: there is another file.
    WouldReplace(Writing),
    /// What files are good for.
    Classified {
        /// The files.
        found: Classified,
        /// What was known of them.
        order: Order,
        /// Whether changes may be lost.
        discard: bool,
    },
    /// There is nothing to recover any more.
    Forgotten,
    /// Pieces to learn from.
    Labelled {
        /// The pieces.
        pieces: Vec<LabelledPiece>,
        /// Whether they were found in files; else they are of the open piece.
        from_files: bool,
    },
    /// A model was read.
    ModelOpened {
        /// Its name, or its file.
        model: String,
        /// What it says of itself.
        card: Box<ModelCard>,
        /// What it was opened for.
        purpose: ModelPurpose,
    },
    /// What the model will be called that is being trained.
    TrainingNamed(String),
    /// Whether a training that has ended can go on later.
    TrainingKept(bool),
    /// A step or an epoch of training is done.
    Training(TrainEvent),
    /// A model was trained.
    Trained(Box<Outcome>),
    /// It did not work.
    Failed(Error),
}

impl Event {
    /// Whether more of the same job will follow.
    fn is_interim(&self) -> bool {
        matches!(
            self,
            Self::Progress { .. }
                | Self::Notice(_)
                | Self::Opened { .. }
                | Self::TrainingNamed(_)
                | Self::Training(_)
                | Self::TrainingKept(_)
        )
    }
}

struct Message {
    slot: Slot,
    job: JobId,
    event: Event,
}

struct Running {
    job: JobId,
    ctx: JobContext,
}

/// How long a window that closes waits for what its workers are doing.
const LONGEST_GOODBYE: Duration = Duration::from_secs(10);

/// Starts jobs and collects what they tell.
pub struct Worker {
    sender: Sender<Message>,
    receiver: Receiver<Message>,
    running: [Option<Running>; SLOTS],
    threads: Vec<JoinHandle<()>>,
    next_job: u64,
    wake: Arc<dyn Fn() + Send + Sync>,
    computing: Arc<Computing>,
}

impl Worker {
    /// `wake` is called from worker threads whenever there is something to poll.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Self {
        let (sender, receiver) = channel();
        let running = [const { None }; SLOTS];
        let (wake, computing) = (Arc::new(wake), Arc::default());
        Self { sender, receiver, running, threads: Vec::new(), next_job: 0, wake, computing }
    }

    /// Jobs that are started from now on compute on this device.
    pub fn compute_on(&mut self, choice: DeviceChoice) {
        if self.computing.choice() != choice {
            self.computing = Arc::new(Computing::on(choice));
        }
    }

    /// Starts a job; the job that held its slot is cancelled and its events will be dropped.
    pub fn start(&mut self, task: Task) {
        let slot = task.slot();
        if slot != Slot::Files {
            self.cancel(slot);
        }
        self.threads.retain(|thread| !thread.is_finished());
        self.next_job += 1;
        let job = JobId(self.next_job);
        let (sender, wake) = (self.sender.clone(), Arc::clone(&self.wake));
        let tell = move |event| {
            // The window may be closing: nobody listens any more.
            let _ = sender.send(Message { slot, job, event });
            wake();
        };
        let report = tell.clone();
        let ctx = JobContext::with_progress(move |progress| {
            report(Event::Progress { stage: progress.stage.to_owned(), fraction: progress.fraction });
        });
        self.running[slot as usize] = Some(Running { job, ctx: ctx.clone() });
        let failed = tell.clone();
        let computing = task.computes().then(|| Arc::clone(&self.computing));
        let notify = self.notifier();
        let spawned = std::thread::Builder::new().name(format!("agogic-{}-{}", task.name(), job.0)).spawn(move || {
            let on_device =
                computing.map_or_else(|| Ok((ctx.clone(), Device::Cpu)), |computing| computing.open(&ctx, notify));
            let done = on_device.and_then(|(ctx, device)| tasks::run(&ctx, &device, task, &tell));
            if let Err(error) = done {
                tell(Event::Failed(error));
            }
        });
        match spawned {
            // A system dialog cannot be told to close, and nobody reads the warnings of a closing window.
            Ok(thread) if !matches!(slot, Slot::Dialog | Slot::Check) => self.threads.push(thread),
            Ok(_) => {}
            Err(source) => failed(Event::Failed(Error::io("start", "a worker thread", source))),
        }
    }

    /// Tells the user what a device has to say, whichever job it served first.
    fn notifier(&self) -> Notify {
        let (sender, wake) = (Mutex::new(self.sender.clone()), Arc::clone(&self.wake));
        Box::new(move |text| {
            let event = Event::Notice(with_capital(text));
            let message = Message { slot: Slot::Files, job: JobId(0), event };
            let _ = sender.lock().unwrap_or_else(PoisonError::into_inner).send(message);
            wake();
        })
    }

    /// Asks the job in a slot to stop and forgets it. What the user has asked to save is saved all the same.
    pub fn cancel(&mut self, slot: Slot) {
        if let Some(running) = self.running[slot as usize].take().filter(|_| slot != Slot::Save) {
            running.ctx.cancel();
        }
    }

    /// Asks all jobs to stop, but for a save, and waits until they have; a drive that no longer answers is not waited for. Gives
    /// what the save has to tell.
    pub fn finish(&mut self) -> Vec<(Slot, Event)> {
        for (slot, running) in self.running.iter_mut().enumerate() {
            if let Some(running) = running.take_if(|_| slot != Slot::Save as usize) {
                running.ctx.cancel();
            }
        }
        let begun = Instant::now();
        while begun.elapsed() < LONGEST_GOODBYE && self.threads.iter().any(|thread| !thread.is_finished()) {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.threads.clear();
        self.poll()
    }

    /// Asks the job in a slot to stop; what it still has to tell is heard.
    pub fn ask_to_stop(&self, slot: Slot) {
        if let Some(running) = &self.running[slot as usize] {
            running.ctx.cancel();
        }
    }

    /// Whether a job holds the slot.
    pub fn is_busy(&self, slot: Slot) -> bool {
        self.running[slot as usize].is_some()
    }

    /// Events since the last time, of jobs that still count. A slot is free again after its job's last event.
    pub fn poll(&mut self) -> Vec<(Slot, Event)> {
        let mut events = Vec::new();
        while let Ok(Message { slot, job, event }) = self.receiver.try_recv() {
            let running = &mut self.running[slot as usize];
            let is_latest = running.as_ref().is_some_and(|running| running.job == job);
            if !is_latest && slot != Slot::Files {
                continue;
            }
            if is_latest && !event.is_interim() {
                *running = None;
            }
            events.push((slot, event));
        }
        events
    }
}

/// As a sentence by itself.
fn with_capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(char::to_uppercase).into_iter().flatten().chain(letters).chain(['.']).collect()
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align::settings::Settings;
    use crate::app::document::source::Sources;

    fn open_demo() -> Task {
        Task::Open { sources: Sources::demo(), settings: Settings::default(), soundfont: None, known: None }
    }

    fn wait_for(worker: &mut Worker, wanted: impl Fn(&Event) -> bool) -> Vec<Event> {
        let begun = Instant::now();
        let mut seen = Vec::new();
        while begun.elapsed() < Duration::from_secs(60) {
            // All events of a poll are returned: nothing that is polled may be lost.
            seen.extend(worker.poll().into_iter().map(|(_, event)| event));
            if seen.iter().any(&wanted) {
                return seen;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("nothing came of {seen:?}");
    }

    #[test]
    fn a_replaced_job_is_not_heard_of_again() {
        let mut worker = Worker::new(|| {});
        worker.start(open_demo());
        worker.start(open_demo());
        let seen = wait_for(&mut worker, |event| matches!(event, Event::Solved { .. }));
        let opened = seen.iter().filter(|event| matches!(event, Event::Opened { .. })).count();
        assert_eq!(opened, 1, "only the second job counts");
        assert!(!worker.is_busy(Slot::Align));
    }

    #[test]
    fn files_chosen_one_after_the_other_are_all_heard_of() {
        let mut worker = Worker::new(|| {});
        let names = ["a.mid", "b.wav", "c.agogic"];
        for name in names {
            worker.start(Task::Classify { paths: vec![PathBuf::from(name)], order: Order::Any, discard: false });
        }
        let mut heard = Vec::new();
        while heard.len() < names.len() {
            for event in wait_for(&mut worker, |event| matches!(event, Event::Classified { .. })) {
                let Event::Classified { found, .. } = event else { panic!("{event:?}") };
                heard.extend(found.files.into_iter().map(|(_, path)| path.file_name().unwrap().to_owned()));
            }
        }
        heard.sort();
        assert_eq!(heard, names);
    }

    #[test]
    fn dropping_the_worker_ends_its_threads_at_once() {
        let mut worker = Worker::new(|| {});
        worker.start(open_demo());
        wait_for(&mut worker, |event| matches!(event, Event::Progress { .. }));
        let begun = Instant::now();
        drop(worker);
        assert!(begun.elapsed() < Duration::from_secs(5));
    }
}
