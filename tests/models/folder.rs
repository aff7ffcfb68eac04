//! Nothing but models is deleted or written over, whatever a project file says and wherever links lead.

use super::{Place, contents, train};
use nestling::annotation::ModelId;
use std::path::PathBuf;

#[test]
fn no_folder_that_the_project_file_names_is_deleted() {
    let place = Place::new();
    place.make("p.nestling", &["PER"]).close().unwrap();
    let victims = [place.victim("absolute"), place.victim("above"), place.victim("p.models/inside")];
    let before = victims.clone().map(|victim| contents(&victim));
    place.sql(
        "p.nestling",
        &format!(
            "INSERT INTO model (id, directory, manifest, created_ms, is_current) VALUES
             (1, '{}', '{{}}', 0, 0), (2, '../above', '{{}}', 0, 0), (3, 'inside', '{{}}', 0, 0), (4, '', '{{}}', 0, 0),
             (5, '..', '{{}}', 0, 0), (6, 'home', '{{}}', 0, 0)",
            victims[0].display()
        ),
    );
    let mut project = place.open("p.nestling");
    assert_eq!(train(&mut project).unwrap(), 7);
    assert_eq!(train(&mut project).unwrap(), 8);
    project.close().unwrap();
    assert_eq!(victims.map(|victim| contents(&victim)), before);
}

#[cfg(unix)]
#[test]
fn nothing_behind_a_link_is_deleted_or_written() {
    use std::os::unix::fs::symlink;
    let place = Place::new();
    let mut project = place.make("p.nestling", &["PER"]);
    let victim = place.victim("victim");
    let before = contents(&victim);
    let first = train(&mut project).unwrap();
    let models = project.models_dir();
    project.close().unwrap();
    // In the place of a model, of an interrupted training, of one half written, of the next model, and in a model.
    std::fs::remove_dir_all(models.join(format!("model-{first:04}"))).unwrap();
    for name in ["model-0001", "model-0002", "model-0009.training", ".model-aB3xyz"] {
        symlink(&victim, models.join(name)).unwrap();
    }
    std::fs::create_dir(models.join("model-0008.training")).unwrap();
    for name in ["00000001-0001", "dataset.json", ".model-aB3xyz", "mine"] {
        symlink(&victim, models.join("model-0008.training").join(name)).unwrap();
    }
    let mut project = place.open("p.nestling");
    let numbers: Vec<u32> = (0..5).map(|_| train(&mut project).unwrap()).collect();
    assert!(
        numbers.iter().all(|number| *number > 2),
        "a number in whose place something is, is passed over: {numbers:?}"
    );
    project.close().unwrap();
    assert_eq!(contents(&victim), before);
    assert!(models.join("model-0008.training/mine").symlink_metadata().is_ok());

    // The whole folder of the models.
    std::fs::remove_dir_all(&models).unwrap();
    symlink(&victim, &models).unwrap();
    let mut project = place.open("p.nestling");
    let refused = train(&mut project).unwrap_err().to_string();
    assert!(refused.contains("a link or a file is in its place"), "{refused}");
    project.close().unwrap();
    assert_eq!(contents(&victim), before);
}

#[test]
fn a_file_that_a_person_put_into_a_model_outlives_it() {
    let place = Place::new();
    let mut project = place.make("p.nestling", &["PER"]);
    let first = train(&mut project).unwrap();
    let folder = project.snapshot(ModelId(first)).unwrap();
    std::fs::write(folder.join("notes.txt"), "what I thought of it").unwrap();
    for _ in 0..4 {
        train(&mut project).unwrap();
    }
    project.close().unwrap();
    let left: Vec<PathBuf> = contents(&folder).into_keys().collect();
    assert_eq!(left, [folder.join("notes.txt")]);
}
