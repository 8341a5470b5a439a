import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.mapreduce.jobhistory.HistoryViewer;

/** Prints what `mapred job -history all FILE` prints, of several files, each after a line with its path. */
public class Viewer {
    public static void main(String[] paths) throws Exception {
        Configuration conf = new Configuration();
        conf.set("fs.defaultFS", "file:///");
        for (String path : paths) {
            System.out.println("== " + path);
            new HistoryViewer(path, conf, true).print();
        }
    }
}
