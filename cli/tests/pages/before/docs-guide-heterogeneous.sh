howdah master --dir /data/master --listen 10.0.0.1:9001 &
answers --master 10.0.0.1:9001
