//! What pages show beside the vitals that decisions read: rates of disks and network, pressure stall information.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use howdah_proto::v1;
use procfs::DiskStat;
use procfs::net::DeviceStatus;

use super::smooth::Smoothed;

/// Bytes since the machine's start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Totals {
    disk_read: u64,
    disk_written: u64,
    net_received: u64,
    net_sent: u64,
}

/// Rates come from two looks, and are smoothed: what is written goes to disks in bursts.
#[derive(Debug)]
pub(super) struct Details {
    disks: Vec<String>,
    before: Option<(Instant, Totals)>,
    rates: Rates,
}

/// In bytes a second.
#[derive(Debug)]
struct Rates {
    disk_read: Smoothed,
    disk_written: Smoothed,
    net_received: Smoothed,
    net_sent: Smoothed,
}

impl Rates {
    fn new(constant: Duration) -> Rates {
        let none = Smoothed::new(constant);
        Rates { disk_read: none, disk_written: none, net_received: none, net_sent: none }
    }

    /// A device that went away takes its bytes with it.
    fn add(&mut self, before: &Totals, now: &Totals, passed: Duration) {
        let seconds = passed.as_secs_f64().max(1e-3);
        let add = |rate: &mut Smoothed, of: fn(&Totals) -> u64| {
            rate.add(of(now).saturating_sub(of(before)) as f64 / seconds, passed);
        };
        add(&mut self.disk_read, |t| t.disk_read);
        add(&mut self.disk_written, |t| t.disk_written);
        add(&mut self.net_received, |t| t.net_received);
        add(&mut self.net_sent, |t| t.net_sent);
    }

    /// With the pressure of cpu, memory and disk.
    fn as_details(&self, source: &str, [cpu, memory, io]: [Option<u32>; 3]) -> v1::VitalsDetails {
        let rate = |rate: &Smoothed| rate.get().round() as u64;
        v1::VitalsDetails {
            source: source.to_owned(),
            disk_read_per_s: rate(&self.disk_read),
            disk_written_per_s: rate(&self.disk_written),
            net_received_per_s: rate(&self.net_received),
            net_sent_per_s: rate(&self.net_sent),
            pressure_cpu_parts: cpu,
            pressure_memory_parts: memory,
            pressure_io_parts: io,
            // When it is sent.
            sent_ms_epoch: 0,
            undying: Vec::new(),
            held_up: Vec::new(),
            prefetch: None,
        }
    }
}

impl Details {
    pub(super) fn new(constant: Duration) -> Details {
        let blocks = fs::read_dir("/sys/block").into_iter().flatten().flatten();
        // What lies on other devices would count twice.
        let virtual_ones = ["loop", "ram", "zram", "dm-", "md", "sr"];
        let names = blocks.filter_map(|entry| entry.file_name().into_string().ok());
        Details {
            disks: names.filter(|name| !virtual_ones.iter().any(|v| name.starts_with(v))).collect(),
            before: None,
            rates: Rates::new(constant),
        }
    }

    /// Since the last call; pressure of the control group with this directory, or of the host.
    pub(super) fn read(&mut self, source: &str, group: Option<&Path>) -> v1::VitalsDetails {
        let disks = procfs::diskstats().unwrap_or_default();
        let (disk_read, disk_written) = disk_bytes(&disks, &self.disks);
        let interfaces = procfs::net::dev_status().unwrap_or_default();
        let (net_received, net_sent) = net_bytes(interfaces.values());
        let totals = Totals { disk_read, disk_written, net_received, net_sent };
        let now = (Instant::now(), totals);
        if let Some((then, before)) = self.before.replace(now) {
            self.rates.add(&before, &totals, now.0.duration_since(then));
        }
        let pressure = |what: &str| {
            let of_group = group.and_then(|dir| fs::read_to_string(dir.join(format!("{what}.pressure"))).ok());
            some_avg10(&of_group.or_else(|| fs::read_to_string(format!("/proc/pressure/{what}")).ok())?)
        };
        self.rates.as_details(source, ["cpu", "memory", "io"].map(pressure))
    }
}

/// Bytes read and written by the disks of these names; the kernel's sectors are 512 bytes whatever the device's are.
fn disk_bytes(all: &[DiskStat], disks: &[String]) -> (u64, u64) {
    let own = all.iter().filter(|disk| disks.contains(&disk.name));
    own.fold((0, 0), |sum, disk| (sum.0 + disk.sectors_read * 512, sum.1 + disk.sectors_written * 512))
}

/// Bytes received and sent by all interfaces but the loopback.
fn net_bytes<'a>(interfaces: impl Iterator<Item = &'a DeviceStatus>) -> (u64, u64) {
    let real = interfaces.filter(|interface| interface.name != "lo");
    real.fold((0, 0), |sum, interface| (sum.0 + interface.recv_bytes, sum.1 + interface.sent_bytes))
}

/// The share of the last ten seconds in which some task was held up, in ten-thousandths, of a pressure file.
fn some_avg10(text: &str) -> Option<u32> {
    let some = text.lines().find(|line| line.starts_with("some "))?;
    let percent = f64::from(procfs::parse_pressure_record(some).ok()?.avg10);
    Some((percent.clamp(0.0, 100.0) * 100.0).round() as u32)
}

#[cfg(test)]
mod tests {
    use procfs::FromRead;
    use procfs::net::InterfaceDeviceStatus;

    use super::*;

    #[test]
    fn whole_disks_are_summed_and_partitions_left_out() {
        let text = "\
 254       0 vda 10 0 2000 5 7 0 30 2 0 4 8
 254       1 vda1 10 0 2000 5 7 0 30 2 0 4 8
   8       0 sda 1 0 8 5 7 0 2 2 0 4 8
   7       0 loop0 1 0 9 5 7 0 9 2 0 4 8
";
        let disks = ["vda".to_owned(), "sda".to_owned()];
        let all: Vec<DiskStat> = text.lines().map(|line| DiskStat::from_line(line).unwrap()).collect();
        assert_eq!(disk_bytes(&all, &disks), (2_008 * 512, 32 * 512));
    }

    #[test]
    fn the_loopback_is_no_network() {
        let text = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:    3193      29    0    0    0     0          0         0     3193      29    0    0    0     0       0          0
  eth0: 60630249    2753    0    0    0     0          0         0   159076    1465    0    0    0     0       0          0
";
        let interfaces = InterfaceDeviceStatus::from_read(text.as_bytes()).unwrap();
        assert_eq!(net_bytes(interfaces.0.values()), (60_630_249, 159_076));
    }

    #[test]
    fn pressure_is_that_of_some_tasks() {
        let text =
            "some avg10=9.40 avg60=2.67 avg300=7.28 total=252936799\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";
        assert_eq!(some_avg10(text), Some(940));
        assert_eq!(some_avg10(""), None);
    }

    #[test]
    fn each_rate_is_of_its_own_bytes_and_a_burst_fades() {
        let mut rates = Rates::new(Duration::from_secs(3));
        let totals = |n: u64| Totals { disk_read: n, disk_written: 10 * n, net_received: 100 * n, net_sent: 1_000 * n };
        rates.add(&totals(5), &totals(25), Duration::from_secs(2));
        let as_details = |rates: &Rates| rates.as_details("host", [Some(1), None, Some(3)]);
        let expected = v1::VitalsDetails {
            source: "host".to_owned(),
            disk_read_per_s: 10,
            disk_written_per_s: 100,
            net_received_per_s: 1_000,
            net_sent_per_s: 10_000,
            pressure_cpu_parts: Some(1),
            pressure_memory_parts: None,
            pressure_io_parts: Some(3),
            prefetch: None,
            sent_ms_epoch: 0,
            undying: Vec::new(),
            held_up: Vec::new(),
        };
        assert_eq!(as_details(&rates), expected);
        // Silence: e^(−3 ÷ 3) of it is left. A device that went away is silent as well.
        rates.add(&totals(25), &totals(0), Duration::from_secs(3));
        let left = as_details(&rates);
        assert_eq!([left.disk_read_per_s, left.disk_written_per_s], [4, 37]);
        assert_eq!([left.net_received_per_s, left.net_sent_per_s], [368, 3_679]);
    }

    #[test]
    fn the_second_look_has_rates_of_what_passed_since() {
        let mut details = Details::new(Duration::from_secs(3));
        assert_eq!(details.read("host", None).net_sent_per_s, 0, "one look has none");
        let (then, totals) = details.before.expect("looked");
        let earlier = Totals { net_sent: totals.net_sent.saturating_sub(1_000_000), ..totals };
        details.before = Some((then - Duration::from_secs(1), earlier));
        let rate = details.read("host", None).net_sent_per_s;
        // A little more than a second, and perhaps more bytes.
        assert!(totals.net_sent < 1_000_000 || rate > 100_000, "{rate}");
    }
}
