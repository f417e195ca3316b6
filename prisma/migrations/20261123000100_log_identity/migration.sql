-- What tells this log from another one: a copy of this database that was restored or promoted goes on with a history of
-- its own, and a bare sequence number does not say which of the two it belongs to.
alter table "log_meta"
  -- Counts the histories that this log has had: 1 until the database was restored or failed over.
  add column "epoch" integer not null default 1,
  -- Up to this sequence all of them agree.
  add column "epoch_base" bigint not null default 0,
  -- The database that the current epoch belongs to, as log_server() and log_instance() name it; null until it is asked for.
  add column "server" text,
  add column "instance" text,
  -- The mark of the change at floor_seq, which is pruned.
  add column "floor_mark" text,
  -- Announcements are signed with a key that is made from it.
  add column "announce_key" bytea;
update "log_meta" set "announce_key" = uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid());
alter table "log_meta" alter column "announce_key" set not null;

-- Names this database: cluster, timeline, database and table. Each kind of copy changes one of them.
-- Some hosted servers keep the cluster to themselves; database and table still tell a restored dump.
create function log_server() returns text language plpgsql stable as $plpgsql$
declare
  here text := concat_ws('/', (select oid from pg_database where datname = current_database()), 'log_meta'::regclass::oid);
begin
  return concat_ws('/', (select system_identifier from pg_control_system()),
    substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8), here);
exception when others then
  return here;
end
$plpgsql$;

create function log_begin_epoch() returns trigger language plpgsql as $plpgsql$
begin
  new.epoch := old.epoch + 1;
  new.epoch_base := greatest(old.floor_seq, coalesce((
    select b.first_seq + b.n - 1 from log_batch b where b.first_seq is not null order by b.first_seq desc limit 1
  ), 0));
  if old.epoch > 1 then
    new.epoch_base := least(old.epoch_base, new.epoch_base);
  end if;
  new.announce_key := uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid());
  return new;
end
$plpgsql$;

-- Whoever gives the log a new identity, this file's function or an operator by hand, begins an epoch.
create trigger "log_meta_epoch" before update of "log_id" on "log_meta" for each row
  when (old.log_id is distinct from new.log_id) execute function log_begin_epoch();

-- Names the running server and the database: it changes whenever one of them is replaced, and when the server restarts.
-- Cheap enough to be asked with every answer: in PL/pgSQL its plan is kept, which it would not be in SQL.
create function log_instance() returns text language plpgsql stable as $plpgsql$
begin
  return concat_ws('.', (extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint,
    (select oid from pg_database where datname = current_database()), 'log_meta'::regclass::oid);
end
$plpgsql$;

-- Begins an epoch when this is another database than the one the log was last numbered in. The numbering lock is held:
-- no sequence of the new epoch is given before.
create function log_check() returns void language plpgsql volatile as $plpgsql$
declare
  here text := log_instance();
begin
  if not exists (select from log_meta m where m.instance is distinct from here) then
    return;
  end if;
  here := log_server();
  update log_meta m set instance = log_instance(), server = here,
    log_id = case when m.server is null or m.server = here then m.log_id else gen_random_uuid() end;
end
$plpgsql$;

-- The check for those who only read. It is apart from the lock: so it sees what the last holder has committed.
create function log_open("lock" bigint) returns void language plpgsql volatile as $plpgsql$
begin
  if exists (select from log_meta m where m.instance is distinct from log_instance()) then
    perform pg_advisory_xact_lock("lock");
    perform log_check();
  end if;
end
$plpgsql$;

-- For who has found that the log is not what it was, though nothing says that its database is another one: a copy of the
-- files that was started in its place. Its histories agree up to "base" and no further. Only the first one begins an epoch.
create function log_fork("lock" bigint, "seen" integer, "base" bigint) returns void language plpgsql volatile as $plpgsql$
begin
  perform pg_advisory_xact_lock("lock");
  update log_meta m set log_id = gen_random_uuid() where m.epoch = "seen";
  if found then
    update log_meta m set epoch_base = least(m.epoch_base, "base");
  end if;
end
$plpgsql$;

-- As before, and it looks first whether the log is still where it was.
create or replace function log_number("lock" bigint, "page" integer)
returns table ("id" bigint, "first_seq" bigint, "n" integer)
language plpgsql volatile as $plpgsql$
#variable_conflict use_column
begin
  perform pg_advisory_xact_lock("lock");
  -- A number must survive a crash once a reader may have seen it, even on a server that does not flush by default.
  if current_setting('synchronous_commit') = 'off' then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  perform log_check();
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
