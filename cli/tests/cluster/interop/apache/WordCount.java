import java.io.IOException;
import java.util.StringTokenizer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.Mapper;
import org.apache.hadoop.mapreduce.Reducer;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;

/** Counts words with Hadoop's local runner: INPUT OUTPUT SPLIT REDUCES... writes OUTPUT.N for each number of reduces. */
public class WordCount {
    public static class Split extends Mapper<LongWritable, Text, Text, LongWritable> {
        private static final LongWritable ONE = new LongWritable(1);
        private final Text word = new Text();

        @Override
        protected void map(LongWritable offset, Text line, Context out) throws IOException, InterruptedException {
            StringTokenizer words = new StringTokenizer(line.toString());
            while (words.hasMoreTokens()) {
                word.set(words.nextToken());
                out.write(word, ONE);
            }
        }
    }

    public static class Sum extends Reducer<Text, LongWritable, Text, LongWritable> {
        @Override
        protected void reduce(Text word, Iterable<LongWritable> counts, Context out)
                throws IOException, InterruptedException {
            long sum = 0;
            for (LongWritable count : counts) {
                sum += count.get();
            }
            out.write(word, new LongWritable(sum));
        }
    }

    public static void main(String[] args) throws Exception {
        for (int at = 3; at < args.length; at++) {
            Configuration conf = new Configuration();
            conf.set("mapreduce.framework.name", "local");
            conf.set("fs.defaultFS", "file:///");
            conf.set("mapreduce.input.fileinputformat.split.maxsize", args[2]);
            conf.set("mapreduce.job.reduces", args[at]);
            Job job = Job.getInstance(conf, "word count");
            job.setJarByClass(WordCount.class);
            job.setMapperClass(Split.class);
            job.setCombinerClass(Sum.class);
            job.setReducerClass(Sum.class);
            job.setOutputKeyClass(Text.class);
            job.setOutputValueClass(LongWritable.class);
            FileInputFormat.addInputPath(job, new Path(args[0]));
            FileOutputFormat.setOutputPath(job, new Path(args[1] + "." + args[at]));
            if (!job.waitForCompletion(false)) {
                System.exit(1);
            }
        }
    }
}
