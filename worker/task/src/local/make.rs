//! What makes the application of a local job.

use howdah_core::job::App;

use crate::api::application::Application;
use crate::api::error::Result;
use crate::api::properties::Properties;

pub(crate) type Make = dyn Fn(&App, &Properties) -> Result<Application> + Send + Sync;
