-- The commit of the repository that was cloned for a worker or a job.
alter table "workload" add column "commit" text;
