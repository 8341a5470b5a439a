import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapred.FileInputFormat;
import org.apache.hadoop.mapred.FileOutputFormat;
import org.apache.hadoop.mapred.InputFormat;
import org.apache.hadoop.mapred.JobClient;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.KeyValueTextInputFormat;
import org.apache.hadoop.mapred.RunningJob;
import org.apache.hadoop.mapred.TextInputFormat;
import org.apache.hadoop.mapred.lib.IdentityReducer;
import org.apache.hadoop.mapred.lib.NLineInputFormat;
import org.apache.hadoop.mapred.lib.aggregate.ValueAggregatorCombiner;
import org.apache.hadoop.mapred.lib.aggregate.ValueAggregatorReducer;

/**
 * What a streaming job with `cat` as mapper does, by Hadoop's local runner: `OUTPUT KIND REDUCES INPUT NAME=VALUE…`, and `--`
 * between two jobs. Prints of each its output and how many groups its reduces had.
 */
public class Streams {
    public static void main(String[] args) throws Exception {
        List<String> words = Arrays.asList(args);
        while (!words.isEmpty()) {
            int end = words.indexOf("--");
            run(words.subList(0, end < 0 ? words.size() : end));
            words = words.subList(end < 0 ? words.size() : end + 1, words.size());
        }
    }

    private static void run(List<String> words) throws Exception {
        JobConf job = new JobConf(Streams.class);
        job.set("mapreduce.framework.name", "local");
        job.set("fs.defaultFS", "file:///");
        // Each job has blocks of its own size.
        job.set("fs.file.impl.disable.cache", "true");
        for (String property : words.subList(4, words.size())) {
            int at = property.indexOf('=');
            job.set(property.substring(0, at), property.substring(at + 1));
        }
        String kind = words.get(1);
        job.setInputFormat(format(kind));
        boolean hasOffsets = kind.equals("text") || kind.equals("lines");
        job.setOutputKeyClass(hasOffsets ? LongWritable.class : Text.class);
        job.setOutputValueClass(Text.class);
        job.setReducerClass(IdentityReducer.class);
        if (kind.equals("aggregate")) {
            job.setCombinerClass(ValueAggregatorCombiner.class);
            job.setReducerClass(ValueAggregatorReducer.class);
        }
        job.setNumReduceTasks(Integer.parseInt(words.get(2)));
        FileInputFormat.setInputPaths(job, words.get(3));
        FileOutputFormat.setOutputPath(job, new Path(words.get(0)));
        RunningJob done = JobClient.runJob(job);
        long groups = done.getCounters().findCounter(
            "org.apache.hadoop.mapreduce.TaskCounter", "REDUCE_INPUT_GROUPS").getValue();
        System.out.println(words.get(0) + "\t" + groups);
    }

    private static Class<? extends InputFormat> format(String kind) {
        switch (kind) {
            case "text":
                return TextInputFormat.class;
            case "lines":
                return NLineInputFormat.class;
            default:
                return KeyValueTextInputFormat.class;
        }
    }
}
