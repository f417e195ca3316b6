-- Seals of the log, each of a block of changes: written behind numbering, where a key signs them. They stay when their changes are pruned,
-- since each root needs all leaves.
create table "log_seal" (
  -- Counts the seals.
  "size" bigint not null,
  "last_seq" bigint not null,
  -- As it is published.
  "line" text not null,
  constraint "log_seal_pkey" primary key ("size")
);
