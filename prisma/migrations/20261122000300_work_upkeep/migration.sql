-- Work that is handed over and ended leaves dead entries at the very place of the index where the next claim begins to
-- look. In a table that keeps the finished work of a million objects a share of it would be 200,000 of them (measured: claims
-- of a tree of 1,000 take 9 ms instead of 0.4). So it is vacuumed after so many rows, and always with its indexes.
alter table "work" set (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 20000,
  vacuum_index_cleanup = on
);
