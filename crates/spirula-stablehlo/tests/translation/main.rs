//! Translation into the tensor IR, tested by running what it gives by definition.

mod checks;
mod files;
mod models;
mod oracle;
