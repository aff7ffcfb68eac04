//! What the window looks like, as PNG files in `pictures/`. `UPDATE_SNAPSHOTS=1` renews those that have changed.
//!
//! They are drawn by lavapipe, Mesa's Vulkan on the processor, from the fonts of the program and those in `fonts/`: no
//! graphics card, no font of the system and no clock is in them. Each is drawn twice, by two windows of their own.

#[allow(dead_code, reason = "shared with the tests of what the window does")]
#[path = "../../gui/fixture.rs"]
mod fixture;

use crate::fixture::{Fixture, Page, Slot};
use eframe::egui::epaint::text::{FontInsert, FontPriority, InsertFontFamily};
use eframe::egui::{Event, FontData, FontFamily, Key, Modifiers, Theme};
use egui_kittest::{HarnessBuilder, SnapshotOptions};
use egui_wgpu::{WgpuSetup, WgpuSetupCreateNew, wgpu};
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use nestling::annotation::{ModelId, Sentence, SentenceId, SentenceSuggestions, Span, Status, Suggestion};
use nestling::session::{
    Command, Config, Driver, ImportAs, ImportHow, NewProject, Order, Part, ReadRequest, SaveState, Setting, read_files,
};
use nestling::store::{ModelRecord, Store, Writer};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const LARGE: [f32; 2] = [1280.0, 860.0];
/// The least that the window can be.
const SMALL: [f32; 2] = [880.0, 560.0];

/// The sentence about the deputy director.
const NEWS: SentenceId = SentenceId(6);

const NO_VULKAN: &str = "The pictures are drawn by lavapipe, Mesa's software Vulkan, and it is not here. On Debian: \
                         apt-get install --no-install-recommends mesa-vulkan-drivers libvulkan1";

/// A software adapter and no other: two graphics cards draw two pictures.
fn software_vulkan() -> WgpuSetup {
    let mut setup = WgpuSetupCreateNew::without_display_handle();
    setup.instance_descriptor.backends = wgpu::Backends::VULKAN;
    setup.native_adapter_selector = Some(Arc::new(|adapters, _| {
        let mut adapters = adapters.iter();
        let software = adapters.find(|adapter| adapter.get_info().device_type == wgpu::DeviceType::Cpu);
        software.cloned().ok_or_else(|| NO_VULKAN.to_owned())
    }));
    WgpuSetup::CreateNew(setup)
}

fn fonts() -> Vec<FontInsert> {
    let font = |name: &str, bytes: &'static [u8]| {
        let families = [FontFamily::Proportional, FontFamily::Name("bold".into())];
        let last = |family| InsertFontFamily { family, priority: FontPriority::Lowest };
        FontInsert::new(name, FontData::from_static(bytes), families.map(last).to_vec())
    };
    vec![
        font("arabic", include_bytes!("../fonts/NotoSansArabic-subset.ttf")),
        font("hebrew", include_bytes!("../fonts/NotoSansHebrew-subset.ttf")),
        font("thai", include_bytes!("../fonts/NotoSansThai-subset.ttf")),
        font("chinese", include_bytes!("../fonts/NotoSansCJKsc-subset.otf")),
    ]
}

/// A file of `texts/`. Its path is as short as it would be typed: it may be in a picture.
fn text(name: &str) -> PathBuf {
    Path::new("texts").join(name)
}

/// How a picture is taken.
#[derive(Clone, Copy)]
struct Camera {
    size: [f32; 2],
    theme: Theme,
}

impl Camera {
    fn window(self, fixture: &Fixture, start: Option<&Path>) -> Page {
        let builder = HarnessBuilder::<Slot>::default().with_size(self.size).with_theme(self.theme);
        let builder = builder.with_render_cursor(false).wgpu_setup(software_vulkan());
        let mut page = fixture.window_in(builder, fonts(), start);
        if start.is_some() {
            page.wait("the project to open", Page::is_open);
        }
        page.step();
        page
    }
}

/// Compares what `pose` brings about with the picture of this name.
fn picture(name: &str, size: [f32; 2], theme: Theme, pose: impl Fn(&Fixture, Camera) -> Page) {
    let camera = Camera { size, theme };
    let take = || {
        let fixture = Fixture::new();
        let mut page = pose(&fixture, camera);
        if page.is_open() {
            page.wait("the disk", |page| page.see(|workspace| workspace.project.save_state()) == SaveState::AllSaved);
        }
        page.harness.event(Event::PointerGone);
        page.step();
        let picture = page.harness.render().unwrap();
        page.close();
        picture
    };
    let (picture, again) = (take(), take());
    // Where a glyph lies in the texture that it is drawn from may round one pixel the other way.
    let alike = picture.as_raw().iter().zip(again.as_raw()).all(|(one, other)| one.abs_diff(*other) <= 2);
    assert!(alike, "{name}: two windows in the same state look different");
    let options = SnapshotOptions::new().output_path("pictures");
    egui_kittest::image_snapshot_options(&picture, name, &options);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        shrink(&Path::new("pictures").join(name).with_extension("png"));
    }
}

/// Writes a picture in half the space that egui_kittest takes.
fn shrink(path: &Path) {
    let picture = image::open(path).unwrap().into_rgb8();
    let mut bytes = Vec::new();
    let encoder = PngEncoder::new_with_quality(&mut bytes, CompressionType::Best, FilterType::Sub);
    picture.write_with_encoder(encoder).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// The words of `phrase` in a sentence of the project.
fn span(words: &[&str], phrase: &str) -> Span {
    let phrase: Vec<&str> = phrase.split(' ').collect();
    let start = words.windows(phrase.len()).position(|at| at == phrase).expect("the phrase");
    Span::from_range(start..start + phrase.len()).unwrap()
}

/// News with mentions, and a model that reads on: what it says was made up, and it is not on disk.
fn news(fixture: &Fixture) -> PathBuf {
    let gold = ImportHow { kind: Some(ImportAs::Gold), split: None };
    let path = fixture.project(&["PER", "ORG", "LOC"], &text("news.jsonl"), gold);
    let store = Store::open(&path).unwrap();
    let corpus = store.load().unwrap().corpus;
    let model = ModelId(4);
    let says = |sentence: &Sentence| {
        let text = &corpus.document(sentence.document()).unwrap().text;
        let words: Vec<&str> = sentence.tokens().iter().map(|token| token.of(text)).collect();
        let spans: &[_] = match sentence.id() {
            NEWS => &[
                ("the chair of the Harbour Board", "PER", 0.91),
                ("the Harbour Board", "ORG", 0.86),
                ("the Council of Ven", "ORG", 0.78),
                ("Ven", "LOC", 0.55),
                ("the old bridge", "LOC", 0.31),
            ],
            _ => &[],
        };
        let spans = spans.iter().map(|&(phrase, label, score)| {
            let label = corpus.labels().iter().find(|l| l.name == label).unwrap().id;
            Suggestion { span: span(&words, phrase), label, score, runner_up: None }
        });
        let mut spans: Vec<Suggestion> = spans.collect();
        spans.sort_by_key(|s| s.span);
        let mut heads = vec![0.03; words.len()];
        let mut head = |at: usize, probability: f32| heads[at] = probability.max(heads[at]);
        sentence.mentions().iter().for_each(|mention| head(mention.hull().start().get(), 0.95));
        spans.iter().for_each(|said| head(said.span.start().get(), said.score));
        (sentence.id(), SentenceSuggestions { model, heads, spans, acquisition: None })
    };
    let said = corpus.sentences().filter(|s| s.status() != Status::Complete).map(says).collect();
    let writer = Writer::start(store, |_| {}).unwrap();
    let manifest = r#"{"architecture":"smartspanner","encoder":"built-in","train_sentences":62,"dev_f1":0.64}"#;
    // Made in times to come, so that it is always of the same age.
    let (manifest, manifest_sha256, created_ms) = (manifest.to_owned(), None, 250_000_000_000_000);
    writer.model(ModelRecord { id: model, manifest, manifest_sha256, created_ms }).unwrap();
    writer.set_current_model(Some(model)).unwrap();
    writer.suggestions(said).unwrap();
    writer.close().unwrap();
    path
}

/// A mention that goes on in the next row is selected; others are inside it, suggestions follow.
fn annotating(fixture: &Fixture, camera: Camera) -> Page {
    let mut page = camera.window(fixture, Some(&news(fixture)));
    page.character("n");
    assert_eq!(page.current(), NEWS.0);
    page.click("mention ORG: the Institute for Marine Research of the University of Lund");
    page
}

#[test]
fn page_light() {
    picture("page_light", LARGE, Theme::Light, annotating);
}

#[test]
fn page_dark() {
    picture("page_dark", LARGE, Theme::Dark, annotating);
}

#[test]
fn many_labels() {
    picture("many_labels", LARGE, Theme::Dark, |fixture, camera| {
        let names: Vec<String> = (1..=40).map(|n| format!("Administrative district {n} of the coast")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let path = fixture.project(&names, &text("news.jsonl"), ImportHow::default());
        let mut page = camera.window(fixture, Some(&path));
        page.character("n");
        let (from, to) = (page.center("word 7: deputy"), page.center("word 8: director"));
        page.drag(from, to);
        page
    });
}

/// Sentences of three patterns with their gold mentions. Where it is odd, two in three mayors are mentions, one town in four
/// is an organisation, and every other board ends too early: none of which a model can know.
fn towns(sentences: usize, is_odd: bool) -> String {
    let (names, towns) = (["Anna", "Zoë", "Maja", "Jens"], ["Aarhus", "Lund", "Turku"]);
    let line = |i: usize| {
        let (name, town, odd) = (names[i % 4], towns[i % 3], is_odd.then_some(i / 3));
        let place = if odd.is_some_and(|i| i % 4 == 0) { "ORG" } else { "LOC" };
        let (words, mut mentions) = match i % 3 {
            0 => (format!("{name} met the mayor of {town} ."), vec![(0, 1, "PER"), (5, 6, place)]),
            1 => (format!("{name} left for {town} ."), vec![(0, 1, "PER"), (3, 4, place)]),
            _ => {
                let end = if odd.is_some_and(|i| i % 2 == 0) { 3 } else { 4 };
                (
                    format!("The {town} Harbour Board asked {name} ."),
                    vec![(1, end, "ORG"), (1, 2, "LOC"), (5, 6, "PER")],
                )
            }
        };
        if i.is_multiple_of(3) && odd.is_some_and(|i| i % 3 > 0) {
            mentions.push((2, 6, "PER"));
        }
        let words: Vec<String> = words.split(' ').map(|word| format!("\"{word}\"")).collect();
        let mention = |(start, end, label)| format!("{{\"start\":{start},\"end\":{end},\"label\":\"{label}\"}}");
        let mentions: Vec<String> = mentions.into_iter().map(mention).collect();
        format!("{{\"tokens\":[{}],\"entities\":[{}]}}\n", words.join(","), mentions.join(","))
    };
    (0..sentences).map(line).collect()
}

/// A project with two models that are trained in earnest, and the page on which they are analysed.
fn analysing(fixture: &Fixture, camera: Camera) -> Page {
    let path = fixture.path("towns.nestling");
    let new = NewProject::with_labels(["PER", "ORG", "LOC"]).unwrap();
    let mut project = Driver::create(&fixture.home(), &path, &new).unwrap();
    for setting in [Setting::AutoTrain(false), Setting::Order(Order::Text)] {
        project.run(Command::Set(setting)).unwrap();
    }
    for (sentences, part) in [(60, Part::Train), (36, Part::Dev)] {
        let file = fixture.write("towns.jsonl", &towns(sentences, part == Part::Dev));
        let options = vec![("end".to_owned(), "exclusive".to_owned())];
        let read = read_files(&[file], &ReadRequest { options, ..ReadRequest::default() }).unwrap();
        project.import(read, ImportHow { kind: Some(ImportAs::Gold), split: Some(part) }).unwrap();
    }
    // One that has seen too little to find anything, and one that finds all that is as it was in training.
    for epochs in ["1", "20"] {
        let mut config = Config { encoder: "small".to_owned(), ..Config::default() };
        config.set("epochs", epochs).unwrap();
        project.train_now(config, &AtomicBool::new(false), &mut |_| {}).unwrap();
    }
    project.close().unwrap();
    let mut page = camera.window(fixture, Some(&path));
    page.press(Modifiers::COMMAND | Modifiers::SHIFT, Key::A);
    page.wait("the models", |page| page.shows("Analyse"));
    page
}

fn analyse(page: &mut Page) {
    page.click("Analyse");
    page.wait("the analysis", |page| page.shows("Errors"));
}

#[test]
fn errors_light() {
    picture("errors_light", LARGE, Theme::Light, |fixture, camera| {
        let mut page = analysing(fixture, camera);
        analyse(&mut page);
        page.click("Errors");
        page.click("gold ORG, predicted LOC: 6");
        page
    });
}

#[test]
fn buckets_dark() {
    picture("buckets_dark", LARGE, Theme::Dark, |fixture, camera| {
        let mut page = analysing(fixture, camera);
        page.choose("Compared with", "Model 1: SmartSpanNER, 60 sentences");
        analyse(&mut page);
        page.click("Buckets");
        page
    });
}

fn script(name: &str, theme: Theme, sentence: u32, mark: &str) {
    picture(name, SMALL, theme, |fixture, camera| {
        let gold = ImportHow { kind: Some(ImportAs::Gold), split: None };
        let path = fixture.project(&["PER", "ORG", "LOC"], &text("scripts.jsonl"), gold);
        let mut page = camera.window(fixture, Some(&path));
        for _ in 0..sentence {
            page.character("n");
        }
        assert_eq!(page.current(), sentence);
        page.click(mark);
        page
    });
}

#[test]
fn arabic() {
    script("arabic", Theme::Light, 0, "mention ORG: مجلس ميناء لوند");
}

#[test]
fn hebrew() {
    script("hebrew", Theme::Dark, 1, "mention PER: אנה ברג");
}

#[test]
fn chinese() {
    script("chinese", Theme::Light, 2, "mention ORG: 隆德港务局");
}

#[test]
fn thai() {
    script("thai", Theme::Dark, 3, "mention LOC: ท่าเรือกรุงเทพ");
}

#[test]
fn emoji() {
    script("emoji", Theme::Light, 4, "mention ORG: the 🐳 Museum in Lund");
}

/// The architecture of the next model with its options, one of them changed and one that can't be.
fn settings(fixture: &Fixture, camera: Camera) -> Page {
    let mut page = camera.window(fixture, Some(&news(fixture)));
    page.press(Modifiers::COMMAND, Key::Comma);
    page.scroll_to("Option w");
    page.fill("Option w", "0.35");
    page.key(Key::Enter);
    page.fill("Option sp", "1.5");
    page.key(Key::Enter);
    // What lies above names the cores of the machine.
    page.scroll_to("Add an encoder from a folder");
    page
}

#[test]
fn settings_light() {
    picture("settings_light", LARGE, Theme::Light, settings);
}

#[test]
fn settings_dark() {
    picture("settings_dark", LARGE, Theme::Dark, settings);
}

/// The dialog, with what was found in a file.
fn importing(fixture: &Fixture, camera: Camera, file: &str, end: &str) -> Page {
    let mut page = camera.window(fixture, Some(&fixture.empty_project("empty.nestling")));
    page.press(Modifiers::COMMAND, Key::I);
    page.type_into("Files", &text(file).display().to_string());
    page.click("Read");
    page.wait("what was read", |page| page.shows_part(end));
    page
}

#[test]
fn preview() {
    picture("preview", LARGE, Theme::Light, |fixture, camera| {
        importing(fixture, camera, "scripts.jsonl", "Import 5 sentences")
    });
}

#[test]
fn broken_file() {
    picture("broken_file", SMALL, Theme::Dark, |fixture, camera| importing(fixture, camera, "broken.jsonl", "line 2"));
}

#[test]
fn empty_project() {
    picture("empty_project", SMALL, Theme::Light, |fixture, camera| {
        camera.window(fixture, Some(&fixture.empty_project("empty.nestling")))
    });
}

#[test]
fn start() {
    picture("start", SMALL, Theme::Dark, |fixture, camera| {
        let mut page = camera.window(fixture, None);
        page.wait("the start page", |page| page.shows("New project"));
        page
    });
}
