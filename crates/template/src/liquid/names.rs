//! The variables that a template may read, found without rendering it.

use std::collections::HashSet;

use super::scanner::Scanner;
use super::text::{Text, units};
use super::tree::{Argument, Call, Expression, For, Node, Operand, Step};
use super::value::Value;

/// The names a template reads, whether or not it assigned them itself.
#[derive(Debug, Default)]
pub(super) struct Names {
    names: HashSet<Text>,
    /// Some name is only known when the template is rendered.
    any: bool,
}

impl Names {
    pub(super) fn of(nodes: &[Node]) -> Self {
        let mut names = Self::default();
        names.nodes(nodes);
        names
    }

    pub(super) fn may_read(&self, name: &str) -> bool {
        self.any || self.names.contains(&units(name))
    }

    fn nodes(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Text(_) | Node::Break | Node::Continue => {}
                Node::Output(expression) | Node::Assign { value: expression, .. } => {
                    self.expression(expression)
                }
                Node::Capture { body, .. } | Node::Block(body) => self.nodes(body),
                Node::If { branches, otherwise } => {
                    for branch in branches {
                        self.expression(&branch.test);
                        self.nodes(&branch.body);
                    }
                    self.nodes(otherwise);
                }
                Node::Case { subject, branches, otherwise } => {
                    self.expression(subject);
                    for (choices, body) in branches {
                        choices.iter().for_each(|choice| self.operand(choice));
                        self.nodes(body);
                    }
                    self.nodes(otherwise);
                }
                Node::For(tag) | Node::Table(tag) => self.round(tag),
                Node::Cycle { group, choices, .. } => {
                    group.iter().for_each(|group| self.operand(group));
                    choices.iter().for_each(|choice| self.expression(choice));
                }
                Node::Count { name, .. } => {
                    self.names.insert(name.clone());
                }
            }
        }
    }

    fn round(&mut self, tag: &For) {
        self.operand(&tag.collection);
        tag.settings.iter().filter_map(|(_, value)| value.as_ref()).for_each(|value| self.operand(value));
        self.nodes(&tag.body);
        self.nodes(&tag.otherwise);
    }

    fn expression(&mut self, expression: &Expression) {
        for step in &expression.steps {
            if let Step::Push(operand) = step {
                self.operand(operand);
            }
        }
        expression.filters.iter().for_each(|call| self.call(call));
    }

    fn call(&mut self, call: &Call) {
        for argument in &call.arguments {
            match argument {
                Argument::Plain(operand) | Argument::Named(_, Some(operand)) => self.operand(operand),
                Argument::Named(_, None) => {}
            }
        }
        if !call.name.ends_with("_exp") {
            return;
        }
        match call.arguments.get(1) {
            Some(Argument::Plain(Operand::Constant(Value::Text(text)))) => {
                if let Ok((expression, _)) = Scanner::over(text).expression() {
                    self.expression(&expression);
                }
            }
            _ => self.any = true,
        }
    }

    fn operand(&mut self, operand: &Operand) {
        match operand {
            Operand::Constant(_) => {}
            Operand::Range(ends) => {
                self.operand(&ends.0);
                self.operand(&ends.1);
            }
            Operand::Path { root, keys } => {
                root.iter().for_each(|root| self.operand(root));
                keys.iter().for_each(|key| self.operand(key));
                match keys.first() {
                    _ if root.is_some() => {}
                    Some(Operand::Constant(Value::Text(name))) => {
                        self.names.insert(name.clone());
                    }
                    Some(Operand::Constant(_)) | None => {}
                    Some(_) => self.any = true,
                }
            }
        }
    }
}
