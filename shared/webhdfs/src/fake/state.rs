//! What all threads of a fake share, and what its data nodes are called.

use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::mood::Mood;
use super::tree::Tree;

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) state: Mutex<State>,
    pub(super) data_nodes: Vec<SocketAddr>,
    pub(super) over: AtomicBool,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) tree: Tree,
    pub(super) mood: Mood,
    /// `HOST METHOD TARGET` of every request so far.
    pub(super) asked: Vec<String>,
    /// Connections that are left without an answer.
    pub(super) held: Vec<TcpStream>,
}

impl Shared {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(super) fn host(node: usize) -> String {
    format!("127.0.0.{}", node + 2)
}

/// By which the name node knows a data node: the address of its own protocol, which nobody speaks here.
pub(super) fn node_name(node: usize) -> String {
    format!("{}:50010", host(node))
}
