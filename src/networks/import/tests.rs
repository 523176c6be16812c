//! Imports of files made here: safetensors with foreign names, and archives as `torch.save` lays them out.

use std::io::{Cursor, Write};

use proptest::prelude::*;
use zip::write::SimpleFileOptions;

use super::*;
use crate::networks::extractor::Gru;
use crate::networks::open_extractor;

const SHAPE: GruShape = GruShape { input: 12, hidden: 4 };

/// Python objects as a protocol 2 pickle, written like `torch.save` does.
#[derive(Default)]
struct Pickler {
    bytes: Vec<u8>,
}

impl Pickler {
    fn op(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    fn text(&mut self, text: &str) -> &mut Self {
        self.op(b"X").op(&(text.len() as u32).to_le_bytes()).op(text.as_bytes())
    }

    fn int(&mut self, value: usize) -> &mut Self {
        self.op(b"J").op(&(value as i32).to_le_bytes())
    }

    fn tensor(&mut self, key: &str, dims: &[usize]) -> &mut Self {
        let count = dims.iter().product();
        self.op(b"ctorch._utils\n_rebuild_tensor_v2\n(");
        self.op(b"(").text("storage").op(b"ctorch\nFloatStorage\n").text(key).text("cpu").int(count).op(b"tQ");
        self.int(0).op(b"(");
        for &dim in dims {
            self.int(dim);
        }
        self.op(b"t(");
        for i in 0..dims.len() {
            self.int(dims[i + 1..].iter().product());
        }
        self.op(b"t\x89ccollections\nOrderedDict\n)RtR")
    }
}

fn networks() -> [(&'static str, Vec<f32>); 2] {
    [("backbone_perf", Gru::random_parameters(SHAPE, 1)), ("backbone_score", Gru::random_parameters(SHAPE, 2))]
}

/// A Lightning checkpoint of the paper's code.
fn checkpoint() -> Vec<u8> {
    let mut pickler = Pickler::default();
    let mut data: Vec<Vec<u8>> = Vec::new();
    pickler.op(b"\x80\x02}q\x00(").text("epoch").op(b"K\x13");
    pickler.text("state_dict").op(b"ccollections\nOrderedDict\nq\x01)Rq\x02(");
    for (prefix, network) in networks() {
        for tensor in SHAPE.tensors() {
            pickler.text(&format!("{prefix}.{}", tensor.name)).tensor(&data.len().to_string(), &tensor.dims);
            data.push(network[tensor.range].iter().flat_map(|v| v.to_le_bytes()).collect());
        }
    }
    pickler.op(b"u").text("hyper_parameters").op(b"}(").text("reg_wt").op(b"G").op(&0.08_f64.to_be_bytes()).op(b"u");
    pickler.op(b"u.");
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    zip.start_file("archive/data.pkl", options).unwrap();
    zip.write_all(&pickler.bytes).unwrap();
    for (key, data) in data.iter().enumerate() {
        zip.start_file(format!("archive/data/{key}"), options).unwrap();
        zip.write_all(data).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn import_bytes(bytes: &[u8]) -> Result<Extractor> {
    match import_model(bytes)? {
        Model::Extractor(extractor) => Ok(extractor),
        Model::Ear(_) => panic!("an ear"),
    }
}

fn import_model(bytes: &[u8]) -> Result<Model> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("best.ckpt");
    std::fs::write(&path, bytes).unwrap();
    import(&path)
}

#[test]
fn a_lightning_checkpoint_of_the_papers_code_is_imported() {
    let imported = import_bytes(&checkpoint()).unwrap();
    let [(_, performance), (_, score)] = networks();
    assert_eq!(imported.parameters().unwrap(), [score, performance].concat());
    let spec = &imported.card.spec;
    assert_eq!(spec.features, FeatureKind::Chroma);
    assert_eq!((spec.lambda, spec.hop, spec.output_dim), (0.08, 1024, 8));
    assert_eq!(imported.card.training["imported_from"], "best.ckpt");
}

#[test]
fn an_imported_model_can_be_saved_and_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("imported.safetensors");
    let imported = import_bytes(&checkpoint()).unwrap();
    imported.save(&path).unwrap();
    let opened = open_extractor(path.to_str().unwrap(), &Device::Cpu).unwrap();
    assert_eq!(opened.parameters().unwrap(), imported.parameters().unwrap());
    // It is also a file with PyTorch's names.
    assert_eq!(import(&path).unwrap().parameters().unwrap(), imported.parameters().unwrap());
}

#[test]
fn files_that_are_no_checkpoint_are_named_with_the_cause() {
    for bytes in [&b""[..], b"PK\x03\x04", b"PK\x03\x04 and nothing that follows", b"no model at all"] {
        let message = import_bytes(bytes).unwrap_err().to_string();
        assert!(message.contains("best.ckpt: is no sound"), "{message}");
    }
}

#[test]
fn a_missing_side_is_named() {
    let arrays = NamedArrays::from([("net.perf.weight_ih_l0".to_owned(), (vec![12, 12], vec![0.0; 144]))]);
    assert_eq!(prefix(Path::new("x"), &arrays, Side::Performance).unwrap(), "net.perf.");
    let message = prefix(Path::new("x"), &arrays, Side::Score).unwrap_err().to_string();
    assert!(message.contains("no GRU for the score"), "{message}");
}

#[test]
fn an_ear_that_pytorch_saved_is_imported_with_the_dimensions_of_its_weights() {
    let bytes = include_bytes!("../../../tests/golden/ear/tiny.pt");
    let Model::Ear(ear) = import_model(bytes).unwrap() else { panic!("not an ear") };
    assert_eq!(ear.card.spec, EarSpec { channels: 6, hidden: 4, summary: 3, head: 5, ..EarSpec::default() });
    let parameters = ear.parameters().unwrap();
    // The formula of `tests/golden/ear/make.py`.
    for (index, value) in parameters.iter().enumerate() {
        let expected = 0.3 * (0.7 * (index + 1) as f64).sin();
        assert!((f64::from(*value) - expected).abs() < 1e-6, "{index}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ear.safetensors");
    ear.save(&path).unwrap();
    let opened = crate::networks::open_ear(path.to_str().unwrap(), &Device::Cpu).unwrap();
    assert_eq!(opened.parameters().unwrap(), parameters);
}

#[test]
fn an_ear_that_lacks_a_layer_or_has_another_one_is_refused() {
    let array = |dims: &[usize]| (dims.to_vec(), vec![0.0; dims.iter().product()]);
    let whole = |head: usize| -> NamedArrays {
        let spec = EarSpec { channels: 2, hidden: 2, summary: 2, head, ..EarSpec::default() };
        ear::layout(&spec).into_iter().map(|(name, dims)| (format!("net.{name}"), array(&dims))).collect()
    };
    let path = Path::new("x");
    assert!(import_ear(path, &whole(3), "net.").is_ok());
    let mut without = whole(3);
    without.remove("net.post.weight");
    assert!(import_ear(path, &without, "net.").unwrap_err().to_string().contains("net.post.weight"));
    let mut other = whole(3);
    other.insert("net.out.weight".to_owned(), array(&[4, 3]));
    assert!(import_ear(path, &other, "net.").unwrap_err().to_string().contains("[5, 3]"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn damaged_checkpoints_never_panic(at in 0_usize..1 << 16, value: u8, cut in 0_usize..1 << 16) {
        let mut bytes = checkpoint();
        let length = bytes.len();
        bytes[at % length] = value;
        bytes.truncate(length - if cut % 2 == 0 { 0 } else { cut % length });
        if checkpoint_file::is_checkpoint(&bytes) {
            drop(checkpoint_file::read(Path::new("x"), &bytes));
        }
    }

    #[test]
    fn arbitrary_pickles_never_panic(bytes: Vec<u8>) {
        drop(crate::networks::pickle::parse(&bytes));
    }
}
