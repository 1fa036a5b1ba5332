//! From the text of a query to the condition on each table.
//!
//! Only what is certain is used: the conjuncts of a `WHERE` over a table named in the same `FROM`. A
//! table that is named anywhere else, or a statement that this parser does not know, is not pruned.

use std::collections::HashMap;
use std::ops::ControlFlow;

use model::table::{self, Kind, Table};
use sqlparser::ast::{
    BinaryOperator, Expr, ObjectName, Query, Select, SetExpr, Statement, TableFactor, TableWithJoins, Value,
    Visit, Visitor,
};
use sqlparser::dialect::DuckDbDialect;
use sqlparser::parser::Parser;

use super::condition::Condition;
use crate::schema::DATE;

/// Evaluates constant SQL expressions to microseconds since the epoch, `None` for what is no time.
pub type Constants<'a> = dyn Fn(&str) -> Option<i64> + 'a;

/// The condition on each table that the statement reads; a table that is not a key is not read.
pub fn conditions(sql: &str, constants: &Constants<'_>) -> HashMap<&'static str, Condition> {
    let parsed = Parser::parse_sql(&DuckDbDialect {}, sql).ok();
    let Some([statement]) = parsed.as_deref() else {
        return mentioned(sql).into_iter().map(|table| (table.name, Condition::Anything)).collect();
    };
    let mut finder = Finder { constants, found: HashMap::new(), named: HashMap::new(), shadowed: false };
    let _: ControlFlow<()> = statement.visit(&mut finder);
    let shadowed = finder.shadowed || !matches!(statement, Statement::Query(_) | Statement::Explain { .. });
    mentioned(sql)
        .into_iter()
        .map(|table| {
            let uses = finder.found.remove(table.name).unwrap_or_default();
            let named = finder.named.get(table.name).copied().unwrap_or(0);
            let certain = !shadowed && !uses.is_empty() && uses.len() == named;
            (table.name, if certain { Condition::Any(uses) } else { Condition::Anything })
        })
        .collect()
}

/// Tables whose name stands anywhere in the text, or all of them when a view over them is named.
fn mentioned(sql: &str) -> Vec<&'static Table> {
    let lower = sql.to_ascii_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    let all = words.iter().any(|word| word.starts_with("hep_proto_") || matches!(*word, "show" | "tables"));
    table::TABLES.iter().copied().filter(|table| all || words.contains(&table.name)).collect()
}

struct Finder<'a> {
    constants: &'a Constants<'a>,
    /// A condition for each time a table stands in a `FROM`.
    found: HashMap<&'static str, Vec<Condition>>,
    /// How often each table is named at all.
    named: HashMap<&'static str, usize>,
    /// Whether a common table expression takes a table's name.
    shadowed: bool,
}

impl Visitor for Finder<'_> {
    type Break = ();

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
        if let Some(table) = lake_table(relation) {
            *self.named.entry(table.name).or_default() += 1;
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        for cte in query.with.iter().flat_map(|with| &with.cte_tables) {
            if table::by_name(&cte.alias.name.value.to_ascii_lowercase()).is_some() {
                self.shadowed = true;
            }
        }
        self.set_expr(&query.body);
        ControlFlow::Continue(())
    }
}

impl Finder<'_> {
    fn set_expr(&mut self, expr: &SetExpr) {
        match expr {
            SetExpr::Select(select) => self.select(select),
            SetExpr::SetOperation { left, right, .. } => {
                self.set_expr(left);
                self.set_expr(right);
            }
            // A nested query is visited by itself.
            _ => {}
        }
    }

    fn select(&mut self, select: &Select) {
        for (table, alias) in select.from.iter().flat_map(relations).filter_map(named_table) {
            let condition = match &select.selection {
                Some(selection) => self.condition(selection, table, &alias),
                None => Condition::Anything,
            };
            self.found.entry(table.name).or_default().push(condition);
        }
    }

    fn condition(&self, expr: &Expr, table: &'static Table, alias: &str) -> Condition {
        match expr {
            Expr::Nested(inner) => self.condition(inner, table, alias),
            Expr::BinaryOp { left, op: BinaryOperator::And, right } => {
                Condition::All(vec![self.condition(left, table, alias), self.condition(right, table, alias)])
            }
            Expr::BinaryOp { left, op: BinaryOperator::Or, right } => {
                Condition::Any(vec![self.condition(left, table, alias), self.condition(right, table, alias)])
            }
            Expr::BinaryOp { left, op, right } => match column(left, table, alias) {
                Some(column) => self.compare(column, op, right),
                None => match (column(right, table, alias), mirrored(op)) {
                    (Some(column), Some(op)) => self.compare(column, &op, left),
                    _ => Condition::Anything,
                },
            },
            Expr::Between { expr, negated: false, low, high } => match column(expr, table, alias) {
                Some(column) => Condition::All(vec![
                    self.compare(column, &BinaryOperator::GtEq, low),
                    self.compare(column, &BinaryOperator::LtEq, high),
                ]),
                None => Condition::Anything,
            },
            Expr::InList { expr, list, negated: false } => match column(expr, table, alias) {
                Some(ColumnRef::Text(column)) => {
                    let values: Option<Vec<String>> = list.iter().map(text_literal).collect();
                    values.map_or(Condition::Anything, |values| Condition::Equals { column, values })
                }
                _ => Condition::Anything,
            },
            _ => Condition::Anything,
        }
    }

    fn compare(&self, column: ColumnRef, op: &BinaryOperator, value: &Expr) -> Condition {
        match column {
            ColumnRef::Text(column) => match (op, text_literal(value)) {
                (BinaryOperator::Eq, Some(value)) => Condition::Equals { column, values: vec![value] },
                _ => Condition::Anything,
            },
            ColumnRef::Time | ColumnRef::Date if !constant(value) => Condition::Anything,
            ColumnRef::Time => match (self.constants)(&value.to_string()) {
                Some(micros) => time_range(op, micros, micros),
                None => Condition::Anything,
            },
            ColumnRef::Date => match (self.constants)(&value.to_string()) {
                Some(micros) => time_range(op, micros, micros.saturating_add(86_400_000_000 - 1)),
                None => Condition::Anything,
            },
        }
    }
}

/// The range that `time op value` leaves, where the value covers `first..=last`.
fn time_range(op: &BinaryOperator, first: i64, last: i64) -> Condition {
    match op {
        BinaryOperator::Eq => Condition::Time { min: first, max: last },
        BinaryOperator::Gt | BinaryOperator::GtEq => Condition::Time { min: first, max: i64::MAX },
        BinaryOperator::Lt | BinaryOperator::LtEq => Condition::Time { min: i64::MIN, max: last },
        _ => Condition::Anything,
    }
}

#[derive(Clone, Copy)]
enum ColumnRef {
    Text(usize),
    Time,
    Date,
}

/// The column of `table` that an expression names, if it is one that files can be pruned by.
fn column(expr: &Expr, table: &'static Table, alias: &str) -> Option<ColumnRef> {
    let name = match expr {
        Expr::Identifier(name) => name,
        Expr::CompoundIdentifier(parts) => match parts.as_slice() {
            [qualifier, name] if qualifier.value.eq_ignore_ascii_case(alias) => name,
            _ => return None,
        },
        _ => return None,
    };
    let name = name.value.to_ascii_lowercase();
    if name == DATE {
        return Some(ColumnRef::Date);
    }
    let position = table.position(&name)?;
    match (position, table.columns.get(position)?.kind) {
        (0, _) => Some(ColumnRef::Time),
        (_, Kind::Text) => Some(ColumnRef::Text(position)),
        _ => None,
    }
}

fn relations(from: &TableWithJoins) -> impl Iterator<Item = &TableFactor> {
    std::iter::once(&from.relation).chain(from.joins.iter().map(|join| &join.relation))
}

fn named_table(factor: &TableFactor) -> Option<(&'static Table, String)> {
    match factor {
        TableFactor::Table { name, alias, args: None, .. } => {
            let table = lake_table(name)?;
            let alias = alias.as_ref().map_or(table.name, |alias| alias.name.value.as_str());
            Some((table, alias.to_owned()))
        }
        _ => None,
    }
}

fn lake_table(name: &ObjectName) -> Option<&'static Table> {
    let text = name.to_string().to_ascii_lowercase();
    table::by_name(text.trim_matches('"'))
}

fn text_literal(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) => Some(text.clone()),
            _ => None,
        },
        Expr::Nested(inner) => text_literal(inner),
        _ => None,
    }
}

/// Whether an expression names no column and asks no other query.
fn constant(expr: &Expr) -> bool {
    struct Names(bool);
    impl Visitor for Names {
        type Break = ();
        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
            let names = matches!(
                expr,
                Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::Subquery(_) | Expr::Exists { .. }
            );
            self.0 |= names;
            if names { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
    }
    let mut names = Names(false);
    let _: ControlFlow<()> = expr.visit(&mut names);
    !names.0
}

fn mirrored(op: &BinaryOperator) -> Option<BinaryOperator> {
    Some(match op {
        BinaryOperator::Eq => BinaryOperator::Eq,
        BinaryOperator::Lt => BinaryOperator::Gt,
        BinaryOperator::LtEq => BinaryOperator::GtEq,
        BinaryOperator::Gt => BinaryOperator::Lt,
        BinaryOperator::GtEq => BinaryOperator::LtEq,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::table::sip;

    fn sip_condition(sql: &str) -> Condition {
        conditions(sql, &|text| text.contains("2026").then_some(1_000)).remove("sip").unwrap()
    }

    fn call_id(values: &[&str]) -> Condition {
        Condition::Equals { column: sip::CALL_ID, values: values.iter().map(|v| (*v).to_owned()).collect() }
    }

    #[test]
    fn equality_and_lists_prune() {
        assert_eq!(
            sip_condition("SELECT * FROM sip WHERE call_id = 'a'"),
            Condition::Any(vec![call_id(&["a"])])
        );
        assert_eq!(
            sip_condition("SELECT 1 FROM sip s WHERE s.call_id IN ('a','b') LIMIT 1"),
            Condition::Any(vec![call_id(&["a", "b"])])
        );
    }

    #[test]
    fn times_prune() {
        let time = |min, max| Condition::Time { min, max };
        assert_eq!(
            sip_condition("SELECT 1 FROM sip WHERE ts >= TIMESTAMPTZ '2026-01-01' AND '2026' > ts"),
            Condition::Any(vec![Condition::All(vec![time(1_000, i64::MAX), time(i64::MIN, 1_000)])])
        );
        assert_eq!(
            sip_condition("SELECT 1 FROM sip WHERE date = '2026-01-01'"),
            Condition::Any(vec![time(1_000, 86_400_000_999)])
        );
    }

    #[test]
    fn what_is_not_certain_does_not_prune() {
        for sql in [
            "SELECT * FROM sip",
            "WITH sip AS (SELECT 1 AS call_id) SELECT * FROM sip WHERE call_id = 'a'",
            "SELECT * FROM sip WHERE call_id = 'a' OR length(call_id) > 3",
            "SELECT * FROM sip WHERE NOT (call_id = 'a')",
            "SELECT * FROM sip WHERE ts > received",
            "SELECT * FROM sip WHERE upper(call_id) = 'A'",
            "PIVOT sip ON method",
            "DESCRIBE sip",
            "SELECT * FROM sip WHERE call_id = 'a' UNION ALL SELECT * FROM sip",
        ] {
            assert!(sip_condition(sql).is_anything(), "{sql}: {:?}", sip_condition(sql));
        }
    }

    #[test]
    fn every_use_counts() {
        let both = sip_condition(
            "SELECT * FROM sip WHERE call_id = 'a' AND cid IN (SELECT cid FROM sip WHERE call_id = 'b')",
        );
        let Condition::Any(uses) = both else { panic!("{both:?}") };
        assert_eq!(uses.len(), 2);
    }

    #[test]
    fn tables_that_are_not_read_are_left_out() {
        let found = conditions("SELECT 1", &|_| None);
        assert!(found.is_empty());
    }
}
