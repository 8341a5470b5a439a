//! Compiles the contract with protox, so that no `protoc` is needed on the machine.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=proto");
    let contract = ["howdah/v1/worker.proto", "howdah/v1/client.proto", "howdah/v1/journal.proto"];
    let files = protox::compile(contract, ["proto"])?;
    tonic_prost_build::configure().compile_fds(files)?;
    Ok(())
}
