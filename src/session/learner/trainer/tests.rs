//! Trainings that are made up, on a thread of their own.

use super::*;
use crossbeam_channel::{Receiver, bounded};

/// Started with a waker that fills a channel.
fn start<W>(work: W) -> (TrainingRun, Receiver<()>)
where
    W: FnOnce(&AtomicBool, &mut dyn FnMut(Event)) -> Result<Finished, TrainError> + Send + 'static,
{
    let (woken, wakes) = bounded(16);
    let waker: Waker = Arc::new(move || woken.send(()).unwrap());
    (TrainingRun::start_with(ModelId(3), (20, 20), waker, work), wakes)
}

fn ended(run: &TrainingRun, wakes: &Receiver<()>) -> Result<Result<Finished, TrainError>, TaskLost> {
    loop {
        wakes.recv().unwrap();
        if let Some(ended) = run.poll() {
            return ended;
        }
    }
}

#[test]
fn a_full_training_has_to_be_better_and_a_quick_one_to_be_no_more_than_a_point_worse() {
    let full = [(0.51, 0.50), (0.50, 0.50), (0.495, 0.50)].map(|(new, old)| is_better(new, old, false));
    assert_eq!(full, [true, false, false]);
    let quick = [(0.50, 0.50), (0.495, 0.50), (0.48, 0.50)].map(|(new, old)| is_better(new, old, true));
    assert_eq!(quick, [true, true, false]);
}

fn at(step: usize) -> Event {
    Event::Progress { step, steps: 1000, epoch: 1, epochs: 4, loss: 0.5, secs_left: 9.0 }
}

#[test]
fn what_can_be_seen_of_it_is_shown_and_not_too_often() {
    let (now, moment) = (Instant::now(), Duration::from_millis(1));
    assert!(is_due(None, now) && is_due(Some(now), now + SHOW_EVERY));
    assert!(!is_due(Some(now), now) && !is_due(Some(now), now + SHOW_EVERY - moment));
    let (run, wakes) = start(|_, _| Err(TrainError::Cancelled));
    assert!(matches!(ended(&run, &wakes), Ok(Err(TrainError::Cancelled))));
    let mut progress = run.progress();
    // The first step is of a new epoch, the last looks the same.
    assert_eq!([1, 500, 750, 751].map(|step| progress.take_in(&at(step))), [true, true, true, false]);
    let warning = Event::Warning { message: "no GPU".to_owned() };
    assert!(progress.take_in(&warning));
    assert_eq!(progress.warnings, ["no GPU"]);
}

#[test]
fn what_can_be_seen_of_it_wakes_and_cancelling_reaches_the_work() {
    let (go, wait) = bounded::<()>(0);
    let (run, wakes) = start(move |cancel, on_event| {
        wait.recv().unwrap();
        (1..=10).for_each(|tenth| on_event(at(75 * tenth)));
        wait.recv().unwrap();
        if cancel.load(Ordering::Relaxed) { Err(TrainError::Cancelled) } else { panic!("not cancelled") }
    });
    assert!(run.poll().is_none());
    assert_eq!((run.progress().model, run.progress().fraction()), (ModelId(3), 0.0));
    go.send(()).unwrap();
    wakes.recv().unwrap();
    assert_eq!(run.progress().epoch, 1);
    assert!(run.poll().is_none());
    run.interrupt();
    go.send(()).unwrap();
    assert_eq!(run.progress().fraction(), 0.75);
    // The others come too soon after the first, but for those that a slow machine spreads.
    assert!(wakes.len() < 5, "{}", wakes.len());
    assert!(matches!(ended(&run, &wakes), Ok(Err(TrainError::Cancelled))));
}

#[test]
fn a_paused_training_waits_between_steps_and_can_be_stopped() {
    let (stepped, steps) = bounded(8);
    let (run, wakes) = start(move |cancel, on_event| {
        for step in 1.. {
            if cancel.load(Ordering::Relaxed) {
                break;
            }
            stepped.send(step).unwrap();
            on_event(Event::Progress { step, steps: 1000, epoch: 1, epochs: 4, loss: 0.5, secs_left: 9.0 });
        }
        Err(TrainError::Cancelled)
    });
    let take = |n: usize| steps.iter().take(n).for_each(drop);
    take(3);
    run.pause(true);
    assert!(run.progress().paused);
    // What was sent before it came to the gate, and no more, however long one waits: the channel holds eight.
    let short = std::time::Duration::from_millis(250);
    let after = std::iter::from_fn(|| steps.recv_timeout(short).ok()).take(100).count();
    assert!(after <= 10, "{after}");
    run.pause(false);
    assert!(!run.progress().paused);
    take(3);
    run.pause(true);
    let _drained = std::iter::from_fn(|| steps.recv_timeout(short).ok()).take(100).count();
    run.interrupt();
    assert!(matches!(ended(&run, &wakes), Ok(Err(TrainError::Cancelled))));
}

#[test]
fn a_panic_is_told_and_what_was_shown_can_still_be_read() {
    let (run, wakes) = start(|_, on_event| {
        let (epochs, loss, secs_left) = (4, 0.5, 9.0);
        on_event(Event::Progress { step: 1, steps: 4, epoch: 1, epochs, loss, secs_left });
        panic!("on purpose");
    });
    assert!(matches!(ended(&run, &wakes), Err(TaskLost)));
    assert_eq!(run.progress().fraction(), 0.25);
}
