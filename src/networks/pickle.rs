//! Just enough of Python's pickle format to read the weights in a PyTorch checkpoint. Nothing is ever executed.
//!
//! Values live in one list and refer to each other by index, so that a hostile file cannot make small input large:
//! every value costs at least a byte of the file.

use std::collections::BTreeMap;

/// A Python object.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// Anything that weights do not need.
    Other,
    Int(i64),
    Float(f64),
    Text(String),
    /// A class or function, as `module.name`.
    Global(String),
    /// A tuple or list.
    Sequence(Vec<Id>),
    Dict(Vec<(Id, Id)>),
    /// A call of a function with a tuple of arguments.
    Call {
        function: Id,
        arguments: Id,
    },
    /// A reference to data stored elsewhere in the file.
    Persistent(Id),
}

/// The index of a [`Value`].
pub(super) type Id = usize;

/// The objects of a pickle.
#[derive(Debug)]
pub(super) struct Pickle {
    values: Vec<Value>,
    root: Id,
}

impl Pickle {
    /// The outermost object.
    pub fn root(&self) -> &Value {
        self.get(self.root)
    }

    /// The object with this index.
    pub fn get(&self, id: Id) -> &Value {
        self.values.get(id).unwrap_or(&Value::Other)
    }

    /// The entry of a dictionary under a text key.
    pub fn entry(&self, dict: &Value, key: &str) -> Option<&Value> {
        let Value::Dict(entries) = dict else { return None };
        let (_, value) = entries.iter().find(|(k, _)| matches!(self.get(*k), Value::Text(text) if text == key))?;
        Some(self.get(*value))
    }

    /// The elements of a tuple or list.
    pub fn elements(&self, value: &Value) -> Option<Vec<&Value>> {
        let Value::Sequence(ids) = value else { return None };
        Some(ids.iter().map(|&id| self.get(id)).collect())
    }

    /// The function's name and the arguments of a call.
    pub fn call(&self, value: &Value) -> Option<(&str, Vec<&Value>)> {
        let Value::Call { function, arguments } = value else { return None };
        let Value::Global(name) = self.get(*function) else { return None };
        Some((name, self.elements(self.get(*arguments))?))
    }
}

/// Reads a pickle of protocol 2 to 5. The error says what is wrong.
pub(super) fn parse(bytes: &[u8]) -> Result<Pickle, String> {
    let mut machine =
        Machine { rest: bytes, values: Vec::new(), stack: Vec::new(), marks: Vec::new(), memo: BTreeMap::new() };
    loop {
        if machine.step()? {
            let root = machine.pop()?;
            return Ok(Pickle { values: machine.values, root });
        }
    }
}

struct Machine<'a> {
    rest: &'a [u8],
    values: Vec<Value>,
    stack: Vec<Id>,
    /// Heights of the stack.
    marks: Vec<usize>,
    memo: BTreeMap<u32, Id>,
}

impl Machine<'_> {
    /// Executes one instruction; true at the end.
    fn step(&mut self) -> Result<bool, String> {
        let [code] = self.array()?;
        match code {
            b'.' => return Ok(true),
            0x80 => drop(self.array::<1>()?),
            0x95 => drop(self.array::<8>()?),
            b'(' => self.marks.push(self.stack.len()),
            b'N' | 0x88 | 0x89 => self.push(Value::Other),
            b'K' => {
                let [value] = self.array()?;
                self.push(Value::Int(value.into()));
            }
            b'M' => {
                let value = u16::from_le_bytes(self.array()?);
                self.push(Value::Int(value.into()));
            }
            b'J' => {
                let value = i32::from_le_bytes(self.array()?);
                self.push(Value::Int(value.into()));
            }
            0x8a => self.long()?,
            b'G' => {
                let value = f64::from_be_bytes(self.array()?);
                self.push(Value::Float(value));
            }
            b'X' => {
                let length = u32::from_le_bytes(self.array()?);
                self.text(length as usize)?;
            }
            0x8c => {
                let [length] = self.array()?;
                self.text(length.into())?;
            }
            b'C' | b'U' => {
                let [length] = self.array()?;
                self.take(length.into())?;
                self.push(Value::Other);
            }
            b'B' | b'T' => {
                let length = u32::from_le_bytes(self.array()?);
                self.take(length as usize)?;
                self.push(Value::Other);
            }
            b'c' => {
                let (module, name) = (self.line()?, self.line()?);
                self.push(Value::Global(format!("{module}.{name}")));
            }
            0x93 => {
                let (name, module) = (self.pop()?, self.pop()?);
                let global = match (&self.values[module], &self.values[name]) {
                    (Value::Text(module), Value::Text(name)) => Value::Global(format!("{module}.{name}")),
                    _ => return Err("a class without a name".to_owned()),
                };
                self.push(global);
            }
            b'Q' => {
                let id = self.pop()?;
                self.push(Value::Persistent(id));
            }
            b')' | b']' => self.push(Value::Sequence(Vec::new())),
            b'}' => self.push(Value::Dict(Vec::new())),
            0x8f => self.push(Value::Other),
            b't' | b'l' => {
                let items = self.pop_to_mark()?;
                self.push(Value::Sequence(items));
            }
            0x85..=0x87 => {
                let count = usize::from(code - 0x84);
                let start = self.stack.len().checked_sub(count).ok_or("a tuple lacks elements")?;
                let items = self.stack.split_off(start);
                self.push(Value::Sequence(items));
            }
            b'd' => {
                let items = self.pop_to_mark()?;
                self.push(Value::Dict(pairs(&items)));
            }
            b'a' => {
                let item = self.pop()?;
                self.append(&[item])?;
            }
            b'e' | 0x90 => {
                let items = self.pop_to_mark()?;
                self.append(&items)?;
            }
            b's' => {
                let (value, key) = (self.pop()?, self.pop()?);
                self.set_items(&[key, value])?;
            }
            b'u' => {
                let items = self.pop_to_mark()?;
                self.set_items(&items)?;
            }
            b'R' | 0x81 => {
                let (arguments, function) = (self.pop()?, self.pop()?);
                let is_dict = self.values[function] == Value::Global("collections.OrderedDict".to_owned());
                self.push(if is_dict { Value::Dict(Vec::new()) } else { Value::Call { function, arguments } });
            }
            // The state of an object: weights do not need it.
            b'b' | b'0' => drop(self.pop()?),
            b'q' => {
                let [index] = self.array()?;
                self.remember(index.into())?;
            }
            b'r' => {
                let index = u32::from_le_bytes(self.array()?);
                self.remember(index)?;
            }
            0x94 => self.remember(self.memo.len() as u32)?,
            b'h' => {
                let [index] = self.array()?;
                self.recall(index.into())?;
            }
            b'j' => {
                let index = u32::from_le_bytes(self.array()?);
                self.recall(index)?;
            }
            other => return Err(format!("the unknown instruction {other:#04x}")),
        }
        Ok(false)
    }

    fn take(&mut self, length: usize) -> Result<&[u8], String> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or("an early end")?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or("an early end")?;
        self.rest = rest;
        Ok(*taken)
    }

    fn line(&mut self) -> Result<String, String> {
        let length = self.rest.iter().position(|&byte| byte == b'\n').ok_or("an early end")?;
        let line = String::from_utf8_lossy(self.take(length)?).into_owned();
        self.take(1)?;
        Ok(line)
    }

    fn text(&mut self, length: usize) -> Result<(), String> {
        let text = String::from_utf8_lossy(self.take(length)?).into_owned();
        self.push(Value::Text(text));
        Ok(())
    }

    fn long(&mut self) -> Result<(), String> {
        let [length] = self.array()?;
        let bytes = self.take(length.into())?;
        let value = if bytes.len() > 8 {
            Value::Other
        } else {
            let negative = bytes.last().is_some_and(|byte| byte & 0x80 != 0);
            let mut all = [if negative { 0xff } else { 0 }; 8];
            all[..bytes.len()].copy_from_slice(bytes);
            Value::Int(i64::from_le_bytes(all))
        };
        self.push(value);
        Ok(())
    }

    fn push(&mut self, value: Value) {
        self.stack.push(self.values.len());
        self.values.push(value);
    }

    fn pop(&mut self) -> Result<Id, String> {
        self.stack.pop().ok_or_else(|| "an instruction that lacks its argument".to_owned())
    }

    fn pop_to_mark(&mut self) -> Result<Vec<Id>, String> {
        let mark =
            self.marks.pop().filter(|&mark| mark <= self.stack.len()).ok_or("an instruction that lacks its mark")?;
        Ok(self.stack.split_off(mark))
    }

    fn top(&mut self) -> Result<&mut Value, String> {
        let id = *self.stack.last().ok_or("an instruction that lacks its argument")?;
        Ok(&mut self.values[id])
    }

    fn append(&mut self, items: &[Id]) -> Result<(), String> {
        if let Value::Sequence(list) = self.top()? {
            list.extend(items);
        }
        Ok(())
    }

    fn set_items(&mut self, items: &[Id]) -> Result<(), String> {
        if let Value::Dict(entries) = self.top()? {
            entries.extend(pairs(items));
        }
        Ok(())
    }

    fn remember(&mut self, index: u32) -> Result<(), String> {
        let id = *self.stack.last().ok_or("an instruction that lacks its argument")?;
        self.memo.insert(index, id);
        Ok(())
    }

    fn recall(&mut self, index: u32) -> Result<(), String> {
        let id = *self.memo.get(&index).ok_or("a reference to nothing")?;
        self.stack.push(id);
        Ok(())
    }
}

fn pairs(items: &[Id]) -> Vec<(Id, Id)> {
    items.as_chunks().0.iter().map(|&[key, value]| (key, value)).collect()
}
