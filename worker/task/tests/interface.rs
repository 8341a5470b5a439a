//! The interface as programs use it, beyond the example: state, both layers, every builder.

use howdah_task::{
    Application, Context, MapOutput, Mapper, Properties, RecordFormat, ReduceOutput, Reducer, Result, Values,
};

#[derive(Default)]
struct Longest {
    longest: Vec<u8>,
    minimum: usize,
}

impl Mapper for Longest {
    fn setup(&mut self, context: &Context) -> Result {
        self.minimum = context.properties().parse_or(&["longest.minimum"], 1, "a number of bytes")?;
        Ok(())
    }

    fn map(&mut self, _key: &[u8], line: &[u8], out: &mut MapOutput) -> Result {
        if line.len() < self.minimum {
            out.context().count("Longest", "short lines", 1);
        } else if line.len() > self.longest.len() {
            self.longest = line.to_vec();
        }
        Ok(())
    }

    fn close(&mut self, out: &mut MapOutput) -> Result {
        out.emit(b"longest", &self.longest)
    }
}

struct Last;

impl Reducer for Last {
    fn reduce(&mut self, key: &[u8], values: &mut Values<'_>, out: &mut ReduceOutput) -> Result {
        let mut last = Vec::new();
        while let Some(value) = values.next()? {
            last = value.to_vec();
        }
        out.emit(key, &last)
    }
}

fn sum(key: &[u8], values: &mut Values<'_>, out: &mut ReduceOutput) -> Result {
    let sum = values.sum()?;
    out.emit_long(key, sum)
}

#[test]
fn programs_with_state_and_programs_of_functions_build() {
    let _ = Application::new(Longest::default).combiner(|| Last).reducer(|| Last).records(RecordFormat::Raw);
    let _ = Application::lines(|line, out| out.emit_long(line, 1)).combiner(|| sum).reduce(sum);
    let _ = Application::identity().partitioner(|_: &Properties| Ok(|key: &[u8], n: u32| u32::from(key[0]) % n));
}
