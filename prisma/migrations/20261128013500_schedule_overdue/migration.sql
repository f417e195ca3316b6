-- When a schedule has not succeeded for as long as its spec says.
alter table "schedule" add column "overdue_at" timestamptz(3);
