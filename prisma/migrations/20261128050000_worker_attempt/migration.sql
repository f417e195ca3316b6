-- A job belongs to an attempt of its worker. Clocks cannot tell it: after a failover they may go back.
alter table "workload" add column "worker_attempt" integer not null default 0;
