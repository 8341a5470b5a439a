//! Apache Hadoop 2.7.3 beside a howdah cluster: its HDFS as input, its own classes as readers of what the cluster wrote and as
//! oracles of what it computed.
//!
//! `cargo xtask interop` says in `HOWDAH_INTEROP_HADOOP` where the jars are. Every Java process is one test's child and ends with
//! it: it carries the test's mark, and a shell before it kills it when this process is gone, however it went.

mod hdfs;
mod histories;
mod java;
mod local_runner;
mod mini_hdfs;
mod streams;
