-- Workers and jobs between two attempts, of which few exist at a time.
create index "workload_backoff_idx" on "workload" ("object_id") where "state" = 3;
