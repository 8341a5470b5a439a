//! worker/apps
