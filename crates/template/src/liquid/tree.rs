//! The tree of a parsed template.

use super::render::Render;
use super::text::Text;
use super::unevaluable::Outcome;
use super::value::Value;

/// A filter: its input and its arguments make its output. A named argument is a list of name and value.
pub(super) type Filter = fn(&mut Render<'_>, Value, &[Value]) -> Outcome<Value>;

/// A piece of a template.
#[derive(Debug)]
pub(super) enum Node {
    Text(Text),
    Output(Expression),
    Assign {
        name: Text,
        value: Expression,
    },
    Capture {
        name: Text,
        body: Vec<Node>,
    },
    /// `if` and `unless`: the first branch whose test holds.
    If {
        branches: Vec<Branch>,
        otherwise: Vec<Node>,
    },
    Case {
        subject: Expression,
        branches: Vec<(Vec<Operand>, Vec<Node>)>,
        otherwise: Vec<Node>,
    },
    For(Box<For>),
    Table(Box<For>),
    Cycle {
        group: Option<Operand>,
        choices: Vec<Expression>,
        label: Text,
    },
    /// `increment` and `decrement`.
    Count {
        name: Text,
        down: bool,
    },
    /// The contents of a `liquid` tag.
    Block(Vec<Node>),
    Break,
    Continue,
}

/// A branch of `if` or `unless`.
#[derive(Debug)]
pub(super) struct Branch {
    pub(super) test: Expression,
    /// Whether the branch is taken when the test fails.
    pub(super) negated: bool,
    pub(super) body: Vec<Node>,
}

/// A `for` or `tablerow` tag.
#[derive(Debug)]
pub(super) struct For {
    pub(super) variable: Text,
    pub(super) collection: Operand,
    /// The collection as the template spells it.
    pub(super) spelling: Text,
    pub(super) settings: Vec<(Text, Option<Operand>)>,
    pub(super) body: Vec<Node>,
    pub(super) otherwise: Vec<Node>,
}

/// A value with its filters.
#[derive(Debug)]
pub(super) struct Expression {
    /// Operands and operators, operators last.
    pub(super) steps: Vec<Step>,
    pub(super) filters: Vec<Call>,
}

/// A step of an expression.
#[derive(Debug)]
pub(super) enum Step {
    Push(Operand),
    Apply(Operator),
}

/// An operand.
#[derive(Debug)]
pub(super) enum Operand {
    Constant(Value),
    /// Keys read one after the other, from `root` or from the variables.
    Path {
        root: Option<Box<Operand>>,
        keys: Vec<Operand>,
    },
    Range(Box<(Operand, Operand)>),
}

/// An operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Equal,
    Unequal,
    Greater,
    Less,
    GreaterOrEqual,
    LessOrEqual,
    Contains,
    Not,
    And,
    Or,
}

impl Operator {
    /// Operators that bind tighter are applied first; of equal ones, the last.
    pub(super) fn strength(self) -> u8 {
        match self {
            Self::And | Self::Or => 0,
            Self::Not => 1,
            _ => 2,
        }
    }
}

/// A filter with its arguments.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) name: &'static str,
    pub(super) run: Filter,
    pub(super) arguments: Vec<Argument>,
}

/// An argument of a filter.
#[derive(Debug)]
pub(super) enum Argument {
    Plain(Operand),
    Named(Text, Option<Operand>),
}
