//! Tests of the translation into the tensor IR, which is evaluated by definition.

mod checks;
mod files;
mod hostile;
mod models;
mod oracle;
mod transforms;
