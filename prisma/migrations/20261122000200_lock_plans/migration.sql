-- The first exclusive lock of a resource was found by an index of the columns that another one has too, and a plan took
-- that one when its numbers made both look alike: it read the whole queue. Nobody else is found by this expression, and it
-- is in no other index.
drop index "lock_exclusive_idx";
create index "lock_exclusive_idx" on "lock" ((case when "mode" = 'EXCLUSIVE' then "resource" end), "ticket");
