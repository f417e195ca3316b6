-- A plan is made once for a connection, and perhaps when the queue happens to be empty: then every index that a statement
-- may use costs the same, and one that it would have to read from end to end is as good as the right one. So indexes of the
-- queue are such that only those statements may use them that search by their first column.

-- Found by "state" + 0 < 2, which nothing that is said of "state" alone implies.
drop index "work_root_idx";
create index "work_root_idx" on "work" ("root_id") where "state" + 0 < 2;

-- Words are only ever looked for by their root.
alter table "wake" drop constraint "wake_pkey", add constraint "wake_pkey" primary key ("root_id", "id");
drop index "wake_root_id_idx";
