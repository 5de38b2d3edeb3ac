//! Translation into the tensor IR, tested by running what it gives by definition.

mod checks;
mod files;
mod hostile;
mod models;
mod oracle;
