jobs trace.jsonl
jobs run.json
echo '<allocations><pool name="a"><weight>2</weight></pool></allocations>' > pools.xml
mkdir conf
cat > conf/mapred-site.xml <<'END'
<configuration><property>
  <name>mapred.jobtracker.taskScheduler</name><value>org.apache.hadoop.mapred.FairScheduler</value>
</property></configuration>
END
