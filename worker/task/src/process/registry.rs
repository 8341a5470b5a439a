//! What gives an attempt its application.

use std::rc::Rc;

use howdah_core::job::App;

use crate::api::application::Application;
use crate::api::error::Result;
use crate::api::properties::Properties;

/// Makes an attempt's application.
pub(crate) type Registry<'a> = &'a mut dyn FnMut(&App, &Properties) -> Result<Rc<Application>>;
