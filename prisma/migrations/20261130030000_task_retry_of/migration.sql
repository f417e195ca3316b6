-- The task that a task retries. A bulk operation that retries leaves out what has a retry already, and finds it by these indexes.
-- The index of events is first: tasks wait only for what is left.
create index "event_retry_of_idx" on "event" ("retry_of") where "retry_of" is not null;
alter table "task" add column "retry_of" uuid;
create index "task_retry_of_idx" on "task" ("retry_of") where "retry_of" is not null;
