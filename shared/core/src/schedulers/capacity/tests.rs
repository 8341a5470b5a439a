//! Files, and what is wrong with them. The rules are tested by scenarios in `shared/core/tests/schedulers/capacity.rs`.

use rstest::rstest;

use super::config::ONE;
use super::*;
use crate::schedulers::by_name;
use crate::schedulers::params::Params;

fn property(name: &str, value: &str) -> String {
    format!("<property><name>mapred.capacity-scheduler.{name}</name><value>{value}</value></property>")
}

fn xml(properties: &[(&str, &str)]) -> String {
    let list: String = properties.iter().map(|(name, value)| property(name, value)).collect();
    format!("<?xml version=\"1.0\"?>\n<configuration>{list}</configuration>")
}

fn error_of(text: &str) -> String {
    let file = [("allocation.file".to_owned(), "conf/c.xml".to_owned()), ("allocations".to_owned(), text.to_owned())];
    let error = by_name("capacity", &Params::from(file)).err().expect("the file is inconsistent");
    let text = error.to_string();
    text.strip_prefix("scheduler `capacity`: conf/c.xml: ").expect("policy and file are named").to_owned()
}

// docs/hadoop.md#allocation-files: names and defaults.
#[test]
fn hadoops_file_and_the_same_in_toml_say_the_same() {
    let hadoop = xml(&[
        ("maximum-system-jobs", "100"),
        ("default-minimum-user-limit-percent", "50"),
        ("init-poll-interval", "5000"),
        ("queue.a.capacity", "33.5"),
        ("queue.a.maximum-capacity", "40"),
        ("queue.a.user-limit-factor", "1.5"),
        ("queue.my.queue.capacity", "66.5"),
        ("queue.my.queue.supports-priority", "true"),
        ("queue.my.queue.maximum-capacity", "-1"),
        ("queue.my.queue.minimum-user-limit-percent", "25"),
    ]);
    let toml = "maximum_system_jobs = 100\n[defaults]\nminimum_user_limit_percent = 50\n\
                [queues.a]\ncapacity = 33.5\nmaximum_capacity = 40\nuser_limit_factor = 1.5\n\
                [queues.\"my.queue\"]\ncapacity = 66.5\nsupports_priority = true\nminimum_user_limit_percent = 25\n";
    let (hadoop, toml) = (settings(&hadoop).expect("holds together"), settings(toml).expect("holds together"));
    assert_eq!(hadoop, toml);
    assert_eq!((hadoop.tasks, hadoop.tasks_after_off_switch, hadoop.off_switch, hadoop.reduces), (32_767, 0, 1, 1));
    let a = &hadoop.queues["a"];
    assert_eq!(a.share, Share::Percent { capacity: 33 * ONE + ONE / 2, maximum: Some(40 * ONE) });
    assert_eq!((a.user_percent, a.user_factor, a.by_priority, a.accept_factor), (50, ONE + ONE / 2, false, 10));
    assert_eq!((a.active_tasks, a.active_tasks_per_user), (200_000, 100_000));
    let b = &hadoop.queues["my.queue"];
    assert_eq!((b.user_percent, b.by_priority), (25, true));
    assert_eq!(b.share, Share::Percent { capacity: 66 * ONE + ONE / 2, maximum: None });
}

#[test]
fn fixed_pools_are_queues_of_slots() {
    let text = "[queues.a]\nmap_slots = 10\nreduce_slots = 8\n[queues.b]\nmap_slots = 20\nreduce_slots = 0\n";
    let found = settings(text).expect("holds together");
    assert_eq!(found.queues["a"].share, Share::Slots([10, 8]));
    assert_eq!(found.queues["b"].share, Share::Slots([20, 0]));
}

#[test]
fn a_byte_order_mark_may_go_before_either_syntax() {
    for text in [xml(&[("queue.a.capacity", "100")]), "[queues.a]\ncapacity = 100\n".to_owned()] {
        assert_eq!(settings(&format!("\u{feff}{text}")), settings(&text));
        assert!(settings(&text).is_ok());
    }
}

const Q: &str = "mapred.capacity-scheduler.queue.";

#[rstest]
#[case::sum(&[("queue.a.capacity", "30"), ("queue.b.capacity", "60")],
    "`mapred.capacity-scheduler.queue.a.capacity` + `mapred.capacity-scheduler.queue.b.capacity`: capacities add up to 90, expected 100")]
#[case::over(&[("queue.a.capacity", "30"), ("queue.b.capacity", "71")], "add up to 101, expected 100")]
#[case::no_queue(&[("maximum-system-jobs", "5")], "no queue, expected at least one")]
#[case::no_capacity(&[("queue.a.capacity", "100"), ("queue.b.supports-priority", "true")],
    "queue `b` has no capacity, expected `mapred.capacity-scheduler.queue.b.capacity`")]
#[case::maximum_below(&[("queue.a.capacity", "100"), ("queue.a.maximum-capacity", "90")],
    "queue.a.maximum-capacity`: `90` is below the queue's capacity of 100; expected at least that")]
#[case::not_a_number(&[("queue.a.capacity", "all")], "queue.a.capacity`: `all` is not a percentage from 0 to 100")]
#[case::above(&[("queue.a.capacity", "101")], "queue.a.capacity`: `101` is not a percentage from 0 to 100")]
#[case::nan(&[("queue.a.capacity", "NaN")], "`NaN` is not a percentage from 0 to 100")]
#[case::not_bool(&[("queue.a.supports-priority", "yes")], "`yes` is not true or false")]
#[case::user_percent(&[("queue.a.capacity", "100"), ("queue.a.minimum-user-limit-percent", "0")],
    "queue.a.minimum-user-limit-percent`: `0` is not a percentage from 1 to 100")]
#[case::factor(&[("queue.a.capacity", "100"), ("queue.a.user-limit-factor", "-1")],
    "queue.a.user-limit-factor`: `-1` is not a number above 0")]
#[case::tasks(&[("queue.a.capacity", "100"), ("queue.a.maximum-initialized-active-tasks", "10"),
    ("queue.a.maximum-initialized-active-tasks-per-user", "20")], "`20` is more than the `10` of the whole queue")]
#[case::system_jobs(&[("queue.a.capacity", "100"), ("maximum-system-jobs", "0")],
    "`mapred.capacity-scheduler.maximum-system-jobs`: `0` is not a number from 1")]
#[case::unknown(&[("queue.a.capcity", "100")], "unknown key `mapred.capacity-scheduler.queue.a.capcity`, did you mean `capacity`?")]
#[case::unknown_system(&[("max-jobs", "100")], "unknown key `mapred.capacity-scheduler.max-jobs`, expected one of maximum-system-jobs,")]
#[case::no_name(&[("queue.capacity", "100")], "is not of the form `mapred.capacity-scheduler.queue.NAME.KEY`")]
fn a_wrong_file_is_answered_with_key_and_expectation(#[case] properties: &[(&str, &str)], #[case] expected: &str) {
    let error = error_of(&xml(properties));
    assert!(error.contains(expected), "{error}");
    assert!(
        expected.contains("no queue") || expected.contains("add up") || error.contains(Q) || error.contains("mapred")
    );
}

#[rstest]
#[case::unclosed("<configuration>", "not well-formed XML")]
#[case::other_root("<allocations/>", "root element is <allocations>, expected <configuration>")]
#[case::entities(
    "<!DOCTYPE c [<!ENTITY a \"&a;\">]><configuration>&a;</configuration>",
    "a document type is not allowed"
)]
#[case::include("<configuration><include href=\"c.xml\"/></configuration>", "other files are not included")]
#[case::queue_names(
    "<configuration><property><name>mapred.queue.names</name><value>a,b</value></property>\
    <property><name>mapred.capacity-scheduler.queue.a.capacity</name><value>100</value></property></configuration>",
    "queue `b` has no capacity"
)]
#[case::unlisted(
    "<configuration><property><name>mapred.queue.names</name><value>a</value></property>\
    <property><name>mapred.capacity-scheduler.queue.b.capacity</name><value>100</value></property></configuration>",
    "`mapred.queue.names` does not list queue `b`"
)]
#[case::toml_key("[queues.a]\ncapacty = 100\n", "unknown field `capacty`")]
#[case::toml_type("[queues.a]\ncapacity = \"x\"\n", "capacity")]
#[case::toml_sum("[queues.a]\ncapacity = 99\n", "`queues.a.capacity`: capacities add up to 99, expected 100")]
#[case::toml_maximum(
    "[queues.a]\ncapacity = 100\nmaximum_capacity = 50\n",
    "`queues.a.maximum_capacity`: `50` is below"
)]
#[case::mixed(
    "[queues.a]\ncapacity = 100\n[queues.b]\nmap_slots = 1\nreduce_slots = 1\n",
    "expected one of the two for all"
)]
#[case::both(
    "[queues.a]\ncapacity = 100\nmap_slots = 1\n",
    "`queues.a.capacity`: a queue has slots or a capacity in percent"
)]
#[case::half(
    "[queues.a]\nmap_slots = 1\n",
    "`queues.a.map_slots` is there, expected `queues.a.reduce_slots` beside it"
)]
#[case::elastic(
    "[queues.a]\nmap_slots = 1\nreduce_slots = 1\nmaximum_capacity = 5\n",
    "a queue of slots never exceeds them"
)]
#[case::default_share(
    "[defaults]\ncapacity = 10\n[queues.a]\ncapacity = 100\n",
    "`defaults.capacity`: a share has no default"
)]
#[case::empty("", "no queue, expected at least one `queues.NAME.capacity`")]
fn a_file_that_is_not_of_the_form_is_refused(#[case] text: &str, #[case] expected: &str) {
    let error = error_of(text);
    assert!(error.contains(expected), "{error}");
}

// docs/hadoop.md#capacity: init limits ceil(maxSystemJobs × cap%), per user × ulMin%; accept × 10.
#[test]
fn job_limits_follow_from_the_queues_share() {
    let text = "maximum_system_jobs = 10\n[queues.a]\ncapacity = 25\nminimum_user_limit_percent = 50\n\
                [queues.b]\ncapacity = 75\ninit_accept_jobs_factor = 2\n";
    let settings = settings(text).expect("holds together");
    let a = Queue::new("a", &settings).limits;
    assert_eq!((a.initialised, a.initialised_per_user, a.accepted, a.accepted_per_user), (3, 2, 30, 20));
    let b = Queue::new("b", &settings).limits;
    assert_eq!((b.initialised, b.initialised_per_user, b.accepted, b.accepted_per_user), (8, 8, 16, 16));
}
