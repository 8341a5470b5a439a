//! Rows of results, as CSV and as Markdown.

/// A table with a header.
#[derive(Clone, Debug, Default)]
pub struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// With these columns; in Markdown a leading `>` puts one to the right.
    pub fn new(columns: &[&str]) -> Table {
        Table { columns: columns.iter().map(|&name| name.to_owned()).collect(), rows: Vec::new() }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// When it has another number of cells than there are columns.
    pub fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        let row: Vec<String> = cells.into_iter().map(Into::into).collect();
        assert_eq!(row.len(), self.columns.len(), "cells of a row of {:?}", self.columns);
        self.rows.push(row);
    }

    /// RFC 4180, lines ending with a line feed.
    pub fn csv(&self) -> String {
        let mut rows = csv::Writer::from_writer(Vec::new());
        let names = self.columns.iter().map(|name| name.trim_start_matches('>'));
        let written =
            rows.write_record(names).and_then(|()| self.rows.iter().try_for_each(|row| rows.write_record(row)));
        written.expect("a vector takes all, and rows have one width");
        String::from_utf8(rows.into_inner().expect("a vector takes all")).expect("cells are text")
    }

    /// A table of GitHub's flavour.
    pub fn markdown(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|name| name.trim_start_matches('>')).collect();
        let sides: Vec<&str> =
            self.columns.iter().map(|name| if name.starts_with('>') { "---:" } else { "---" }).collect();
        let mut text = format!("| {} |\n| {} |\n", names.join(" | "), sides.join(" | "));
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
            text += &format!("| {} |\n", cells.join(" | "));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_keep_their_content_in_both_forms() {
        let mut table = Table::new(&["job", ">error"]);
        table.row(["a,b", "1 %"]);
        table.row(["say \"hi\" | bye", "2 %"]);
        assert_eq!(table.csv(), "job,error\n\"a,b\",1 %\n\"say \"\"hi\"\" | bye\",2 %\n");
        assert_eq!(table.markdown(), "| job | error |\n| --- | ---: |\n| a,b | 1 % |\n| say \"hi\" \\| bye | 2 % |\n");
    }

    #[test]
    #[should_panic(expected = "cells of a row")]
    fn a_row_of_another_width_is_a_mistake_of_ours() {
        Table::new(&["a", "b"]).row(["1"]);
    }
}
