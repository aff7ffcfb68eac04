//! A smaller encoder cut out of a larger one: some of its blocks, of each some neurons of the inner layer, and some of its
//! subwords. What is kept stays as it is.

use super::cut_pieces::with_pieces;
use super::folder::{CONFIG, TOKENIZER, TOKENIZER_CONFIG, VOCABULARY, WORDS};
use super::tokenizer::Steps;
use super::{Definition, Encoder, EncoderError, Subwords};
use crate::nn::NnError;
use candle_core::{Device, Tensor};
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;
use tokenizers::ModelWrapper;

/// What is kept of an encoder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cut {
    /// Numbers of blocks, in the order that they get, and of each the numbers of the inner layer's neurons: as many in
    /// each block.
    pub blocks: Vec<(usize, Vec<u32>)>,
    /// Numbers of subwords, in the order that they get; `None` for all.
    pub subwords: Option<Vec<u32>>,
}

impl Encoder {
    /// # Errors
    /// When a number is none of the encoder's, nothing would be left, or its vocabulary can't be written in part.
    pub fn cut(&self, cut: &Cut) -> Result<Self, EncoderError> {
        let config = self.definition().config();
        if !config.has_passes_by_hand() {
            return Err(EncoderError::Cut("only blocks of BERT's kind can be made smaller"));
        }
        let inner = cut.blocks.first().map_or(0, |(_, neurons)| neurons.len());
        let fits = |(block, neurons): &(usize, Vec<u32>)| {
            *block < config.layers && neurons.len() == inner && neurons.iter().all(|i| (*i as usize) < config.inner)
        };
        if inner == 0 || !cut.blocks.iter().all(fits) {
            return Err(EncoderError::Cut("the blocks to keep are not of this encoder"));
        }
        let definition = self.definition().cut(cut, inner)?;
        let mut weights = HashMap::new();
        for (name, tensor) in self.weights() {
            let Some(block) = block_of(name) else {
                let is_words = name == WORDS_TABLE;
                let kept = cut.subwords.as_ref().filter(|_| is_words);
                weights.insert(name.clone(), kept.map_or_else(|| Ok(tensor.clone()), |kept| rows(tensor, kept))?);
                continue;
            };
            for (number, (_, neurons)) in cut.blocks.iter().enumerate().filter(|(_, (from, _))| *from == block.number) {
                let value = match block.rest {
                    "intermediate.dense.weight" | "intermediate.dense.bias" => rows(tensor, neurons)?,
                    "output.dense.weight" => columns(tensor, neurons)?,
                    _ => tensor.clone(),
                };
                weights.insert(format!("encoder.layer.{number}.{}", block.rest), value);
            }
        }
        Ok(Self::new(definition, weights))
    }
}

const WORDS_TABLE: &str = "embeddings.word_embeddings.weight";

struct InBlock<'a> {
    number: usize,
    rest: &'a str,
}

fn block_of(name: &str) -> Option<InBlock<'_>> {
    let (number, rest) = name.strip_prefix("encoder.layer.")?.split_once('.')?;
    Some(InBlock { number: number.parse().ok()?, rest })
}

fn select(tensor: &Tensor, numbers: &[u32], dim: usize) -> Result<Tensor, EncoderError> {
    let numbers = Tensor::from_slice(numbers, numbers.len(), &Device::Cpu).map_err(NnError::from)?;
    Ok(tensor.index_select(&numbers, dim).and_then(|t| t.contiguous()).map_err(NnError::from)?)
}

fn rows(tensor: &Tensor, numbers: &[u32]) -> Result<Tensor, EncoderError> {
    select(tensor, numbers, 0)
}

fn columns(tensor: &Tensor, numbers: &[u32]) -> Result<Tensor, EncoderError> {
    select(tensor, numbers, 1)
}

impl Definition {
    fn cut(&self, cut: &Cut, inner: usize) -> Result<Self, EncoderError> {
        let keys = self.config().kind.keys();
        let mut files: Vec<(&'static str, Vec<u8>)> =
            self.files().map(|(name, bytes)| (name, bytes.to_vec())).collect();
        let mut sizes = vec![(keys.layers, cut.blocks.len()), (keys.inner, inner)];
        if let Some(kept) = &cut.subwords {
            // Positions are counted from the number of padding on.
            let padding = self.config().position_offset;
            if !kept.iter().copied().take(padding).eq(0..padding as u32) {
                return Err(EncoderError::Cut("its subwords up to the one for padding must stay as they are numbered"));
            }
            sizes.push(("vocab_size", kept.len()));
            let subwords = self.cut_subwords(kept)?;
            files.retain(|(name, _)| [CONFIG, WORDS].contains(name));
            files.extend(subwords);
        }
        for (_, bytes) in files.iter_mut().filter(|(name, _)| *name == CONFIG) {
            *bytes = with_sizes(bytes, &sizes);
        }
        let files: Vec<(&'static str, &[u8])> = files.iter().map(|(name, bytes)| (*name, bytes.as_slice())).collect();
        Self::from_files(&files, Path::new("the smaller encoder"))
    }

    /// Files that give some subwords new numbers.
    fn cut_subwords(&self, kept: &[u32]) -> Result<Vec<(&'static str, Vec<u8>)>, EncoderError> {
        match self.files().find(|(name, _)| *name == TOKENIZER) {
            Some((_, json)) if self.subwords().scores().is_some() => Ok(vec![(TOKENIZER, with_pieces(json, kept)?)]),
            _ => self.subwords().cut(kept),
        }
    }
}

fn with_sizes(config: &[u8], sizes: &[(&str, usize)]) -> Vec<u8> {
    let Ok(Value::Object(mut json)) = serde_json::from_slice(config) else { return config.to_vec() };
    // What said where the larger one came from and how it was written would be wrong.
    for key in ["_name_or_path", "transformers_version", "architectures"] {
        json.remove(key);
    }
    json.extend(sizes.iter().map(|(key, size)| ((*key).to_owned(), Value::from(*size))));
    format!("{:#}\n", Value::Object(json)).into_bytes()
}

impl Subwords {
    /// The subwords by their numbers; empty where words are hashed.
    pub fn list(&self) -> Vec<String> {
        let Self::Tokenizer(of) = self else { return Vec::new() };
        let mut list = Vec::new();
        for (subword, number) in of.tokenizer.get_vocab(true) {
            let number = number as usize;
            if list.len() <= number {
                list.resize(number + 1, String::new());
            }
            list[number] = subword;
        }
        list
    }

    /// The scores of a Unigram model's pieces by their numbers: the logarithm of how likely each is. `None` of other kinds.
    pub fn scores(&self) -> Option<Vec<f64>> {
        let Self::Tokenizer(of) = self else { return None };
        let ModelWrapper::Unigram(model) = of.tokenizer.get_model() else { return None };
        Some(model.iter().map(|(_, score)| *score).collect())
    }

    /// A vocabulary of BERT's kind and what says how to read it.
    fn cut(&self, kept: &[u32]) -> Result<Vec<(&'static str, Vec<u8>)>, EncoderError> {
        let Self::Tokenizer(of) = self else {
            return Err(EncoderError::Cut("it has no vocabulary"));
        };
        let normalizer = of.tokenizer.get_normalizer().and_then(Steps::only_bert);
        let (ModelWrapper::WordPiece(_), Some(normalizer)) = (of.tokenizer.get_model(), normalizer) else {
            return Err(EncoderError::Cut(
                "only vocabularies of BERT's kind (WordPiece) and of SentencePiece's (Unigram) can be made smaller",
            ));
        };
        if !normalizer.clean_text || !normalizer.handle_chinese_chars || normalizer.strip_accents.is_some() {
            return Err(EncoderError::Cut(
                "its tokenizer treats characters otherwise than BERT's, so its vocabulary stays",
            ));
        }
        let list = self.list();
        let mut text = String::new();
        for number in kept {
            let subword = list.get(*number as usize).filter(|subword| !subword.is_empty());
            text += subword.ok_or(EncoderError::Cut("a subword to keep is none of its own"))?;
            text.push('\n');
        }
        let said = serde_json::json!({ "do_lower_case": normalizer.lowercase, "tokenizer_class": "BertTokenizer" });
        Ok(vec![(VOCABULARY, text.into_bytes()), (TOKENIZER_CONFIG, format!("{said:#}\n").into_bytes())])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoder::tests::fixtures;

    fn numbers(encoder: &Encoder, name: &str) -> Vec<f32> {
        encoder.weights()[name].flatten_all().unwrap().to_vec1().unwrap()
    }

    #[test]
    fn what_is_kept_stays_as_it_is() {
        let whole = Encoder::open(&fixtures().join("tiny-bert")).unwrap();
        let list = whole.definition().subwords().list();
        let mut kept: Vec<u32> =
            (0..list.len() as u32).filter(|i| i % 3 != 2 || list[*i as usize].starts_with('[')).collect();
        kept.reverse();
        let cut = Cut { blocks: vec![(1, vec![2, 0, 5])], subwords: Some(kept.clone()) };
        let dir = tempfile::tempdir().unwrap();
        whole.cut(&cut).unwrap().write(dir.path()).unwrap();
        let small = Encoder::open(dir.path()).unwrap();
        let (config, before) = (small.definition().config(), whole.definition().config());
        assert_eq!((config.layers, config.inner, config.vocabulary), (1, 3, kept.len()));
        assert_eq!(
            (config.hidden, config.attention_heads, config.max_positions),
            (before.hidden, before.attention_heads, before.max_positions)
        );
        let expected: Vec<&String> = kept.iter().map(|i| &list[*i as usize]).collect();
        assert_eq!(small.definition().subwords().list().iter().collect::<Vec<_>>(), expected);
        let row = |numbers: &[f32], i: usize, width: usize| numbers[i * width..(i + 1) * width].to_vec();
        let (words, few_words) = (numbers(&whole, WORDS_TABLE), numbers(&small, WORDS_TABLE));
        for (new, old) in kept.iter().enumerate() {
            assert_eq!(row(&few_words, new, config.hidden), row(&words, *old as usize, config.hidden));
        }
        let (up, few_up) = ("encoder.layer.1.intermediate.dense.weight", "encoder.layer.0.intermediate.dense.weight");
        assert_eq!(row(&numbers(&small, few_up), 2, config.hidden), row(&numbers(&whole, up), 5, config.hidden));
        let down = [(&whole, "encoder.layer.1.output.dense.weight"), (&small, "encoder.layer.0.output.dense.weight")];
        let [down, few_down] = down.map(|(encoder, name)| numbers(encoder, name));
        assert_eq!(
            few_down[config.inner],
            down[before.inner + 2],
            "the first neuron that is kept, into the second number"
        );
    }

    #[test]
    fn pieces_that_are_kept_are_read_as_before() {
        let whole = Encoder::open(&fixtures().join("tiny-xlm-roberta")).unwrap();
        let list = whole.definition().subwords().list();
        let numbered = |from: &Encoder, text: &str| {
            let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
            let ids = from.definition().subwords().align(&words, 60).unwrap().windows()[0].ids.clone();
            let list = from.definition().subwords().list();
            ids.iter().map(|id| list[*id as usize].clone()).collect::<Vec<_>>()
        };
        let text = "the mayor , of the sea";
        let used = numbered(&whole, text);
        // Marks, and that of a space.
        let keeps = |(number, piece): &(usize, &String)| *number < 5 || used.contains(piece);
        let kept: Vec<u32> = list.iter().enumerate().filter(keeps).map(|(number, _)| number as u32).collect();
        assert!(kept.len() < list.len() / 2);
        let blocks = vec![(0, vec![0, 1])];
        let small = whole.cut(&Cut { blocks: blocks.clone(), subwords: Some(kept.clone()) }).unwrap();
        assert_eq!(numbered(&small, text), used);
        let [scores, before] = [&small, &whole].map(|of| of.definition().subwords().scores().unwrap());
        assert!(kept.iter().zip(&scores).all(|(old, score)| (before[*old as usize] - score).abs() < 1e-4));
        let width = whole.definition().config().hidden;
        for (new, old) in kept.iter().enumerate() {
            let row = |encoder: &Encoder, i: usize| numbers(encoder, WORDS_TABLE)[i * width..(i + 1) * width].to_vec();
            assert_eq!(row(&small, new), row(&whole, *old as usize));
        }
        let positions = small.definition().config();
        assert_eq!(positions.position_offset, whole.definition().config().position_offset);
        let without_padding = kept.into_iter().filter(|old| *old != 1).collect();
        let refused = whole.cut(&Cut { blocks, subwords: Some(without_padding) }).unwrap_err();
        assert!(refused.to_string().contains("padding"), "{refused}");
    }

    #[test]
    fn what_can_t_be_cut_is_refused() {
        let whole = Encoder::open(&fixtures().join("tiny-bert")).unwrap();
        let inner = whole.definition().config().inner as u32;
        for blocks in
            [vec![], vec![(0, vec![])], vec![(9, vec![0])], vec![(0, vec![inner])], vec![(0, vec![0]), (1, vec![0, 1])]]
        {
            assert!(matches!(whole.cut(&Cut { blocks, subwords: None }), Err(EncoderError::Cut(_))));
        }
        let roberta = Encoder::open(&fixtures().join("tiny-roberta")).unwrap();
        let blocks = vec![(0, vec![0, 1])];
        assert!(matches!(
            roberta.cut(&Cut { blocks: blocks.clone(), subwords: Some(vec![0]) }),
            Err(EncoderError::Cut(_))
        ));
        let small = roberta.cut(&Cut { blocks, subwords: None }).unwrap();
        assert_eq!(small.definition().config().layers, 1);
    }
}
