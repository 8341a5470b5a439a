//! A worker's shuffle server in small: map outputs of one directory over HTTP/1.1, to this host.

use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::api::error::Result;
use crate::collect::{MAP_OUTPUT, MAP_OUTPUT_INDEX};
use crate::segment::find_segment;

/// Serves until it is dropped.
pub(crate) struct ShuffleServer {
    address: SocketAddr,
    stopped: Arc<AtomicBool>,
}

impl ShuffleServer {
    /// Serves `dir/ATTEMPT/file.out` for all attempts.
    pub(crate) fn start(dir: PathBuf, token: &'static str) -> Result<ShuffleServer> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let stopped = Arc::new(AtomicBool::new(false));
        let stop = stopped.clone();
        std::thread::Builder::new().name("shuffle-server".to_owned()).spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                let dir = dir.clone();
                if let Ok(stream) = stream {
                    std::thread::spawn(move || {
                        // A client that went away is no event.
                        let _ = serve(&stream, &dir, token);
                    });
                }
            }
        })?;
        Ok(ShuffleServer { address, stopped })
    }

    pub(crate) fn address(&self) -> String {
        self.address.to_string()
    }
}

impl Drop for ShuffleServer {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
        // Ends the wait for a connection.
        let _ = TcpStream::connect(self.address);
    }
}

fn serve(stream: &TcpStream, dir: &Path, token: &str) -> Result {
    let mut reader = BufReader::new(stream);
    loop {
        let mut request = String::new();
        if reader.read_line(&mut request)? == 0 {
            return Ok(());
        }
        let mut authorized = false;
        loop {
            let mut header = String::new();
            if reader.read_line(&mut header)? == 0 || header.trim().is_empty() {
                break;
            }
            if let Some((name, value)) = header.split_once(':') {
                authorized |= name.eq_ignore_ascii_case("x-howdah-token") && value.trim() == token;
            }
        }
        answer(stream, &request, authorized, dir)?;
    }
}

fn answer(mut stream: &TcpStream, request: &str, authorized: bool, dir: &Path) -> Result {
    let status = |mut stream: &TcpStream, status: &str| -> Result {
        Ok(write!(stream, "HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n")?)
    };
    if !authorized {
        return status(stream, "403 Forbidden");
    }
    let parts: Vec<&str> = request.split([' ', '/']).collect();
    let ["GET", "", "shuffle", _job, attempt, partition, ..] = parts[..] else {
        return status(stream, "404 Not Found");
    };
    if !attempt.starts_with("attempt_") {
        return status(stream, "404 Not Found");
    }
    let dir = dir.join(attempt);
    let place = partition.parse().ok().and_then(|n| find_segment(&dir.join(MAP_OUTPUT_INDEX), n).ok());
    let (Some(place), Ok(mut file)) = (place, std::fs::File::open(dir.join(MAP_OUTPUT))) else {
        return status(stream, "404 Not Found");
    };
    file.seek(SeekFrom::Start(place.offset))?;
    write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", place.length)?;
    std::io::copy(&mut file.take(place.length), &mut stream)?;
    Ok(())
}
