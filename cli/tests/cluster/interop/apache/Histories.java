import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.jobhistory.JobHistoryParser;
import org.apache.hadoop.mapreduce.jobhistory.JobHistoryParser.JobInfo;
import org.apache.hadoop.mapreduce.jobhistory.JobHistoryParser.TaskAttemptInfo;
import org.apache.hadoop.mapreduce.jobhistory.JobHistoryParser.TaskInfo;

/** Prints what Hadoop's own parser finds in job histories: a line for each job and for each attempt, fields by tabs. */
public class Histories {
    public static void main(String[] paths) throws Exception {
        FileSystem files = FileSystem.getLocal(new Configuration());
        for (String path : paths) {
            JobHistoryParser parser = new JobHistoryParser(files, path);
            JobInfo job = parser.parse();
            if (parser.getParseException() != null) {
                throw parser.getParseException();
            }
            print("job", job.getJobId(), job.getJobname(), job.getUsername(), job.getJobQueueName(), job.getJobStatus(),
                job.getTotalMaps(), job.getTotalReduces(), job.getFinishedMaps(), job.getFinishedReduces(),
                counter(job.getTotalCounters()));
            for (TaskInfo task : job.getAllTasks().values()) {
                for (TaskAttemptInfo attempt : task.getAllTaskAttempts().values()) {
                    print("attempt", attempt.getAttemptId(), attempt.getTaskStatus(), attempt.getHostname(),
                        attempt.getStartTime(), attempt.getFinishTime());
                }
            }
        }
    }

    private static Object counter(Counters counters) {
        return counters == null ? "none"
            : counters.findCounter("org.apache.hadoop.mapreduce.TaskCounter", "MAP_INPUT_RECORDS").getValue();
    }

    private static void print(Object... fields) {
        StringBuilder line = new StringBuilder();
        for (Object field : fields) {
            line.append(line.length() == 0 ? "" : "\t").append(field);
        }
        System.out.println(line);
    }
}
