-- Numbering in one statement instead of five: it runs after nearly every commit. The lock comes first, and what follows
-- has a snapshot of its own, younger than the commit of whoever held it before: in a function, too, each statement does,
-- as long as transactions are read committed, which ours are.
create function log_number("lock" bigint, "page" integer)
returns table ("id" bigint, "first_seq" bigint, "n" integer)
language plpgsql volatile as $plpgsql$
#variable_conflict use_column
begin
  perform pg_advisory_xact_lock("lock");
  -- A number must survive a crash once a reader may have seen it, even on a server that does not flush by default.
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  return query
    with waiting as (
      select b.id, b.n from log_batch b where b.first_seq is null order by b.id limit "page"
    ), head as (
      select greatest((select floor_seq from log_meta), coalesce((
        select b.first_seq + b.n - 1 from log_batch b where b.first_seq is not null order by b.first_seq desc limit 1
      ), 0)) as seq
    ), placed as (
      select w.id, head.seq + 1 + sum(w.n) over (order by w.id) - w.n as first_seq from waiting w, head
    ), numbered as (
      update log_batch b set first_seq = p.first_seq from placed p where b.id = p.id returning b.id, b.first_seq, b.n
    )
    select d.id, d.first_seq, d.n from numbered d order by d.first_seq;
end
$plpgsql$;
