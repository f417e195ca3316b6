-- Trees that are paused. Small, so it is asked wherever work is handed out.
create table "root_pause" (
  "root_id" uuid not null primary key,
  "at" timestamptz(3) not null,
  "by" text not null,
  "reason" text
);
