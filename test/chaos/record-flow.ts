/**
 * Triggers that write down each change of a ticket, a pause or an override. All tickets change under one lock, and those of a tree and its pauses
 * under that of its root, so they are numbered in the order of the transactions that did it. Overrides are written before that lock is taken.
 */
export const RECORD_FLOW = `
create table chaos_flow (n bigserial primary key, did text not null, subject uuid not null, kind text, limit_id uuid, key text,
  priority integer, at timestamptz not null, bounds jsonb, until timestamptz);
create function chaos_ticket() returns trigger language plpgsql as $$
declare
  own limit_ticket := case tg_op when 'DELETE' then old else new end;
begin
  if tg_op <> 'INSERT' and (tg_op = 'DELETE' or new.granted_at is null) then
    insert into chaos_flow (did, subject, kind, limit_id, key, priority, at)
      values ('RELEASE', old.object_id, old.kind, old.limit_id, old.key, old.priority, clock_timestamp());
  end if;
  if tg_op = 'DELETE' then return null; end if;
  insert into chaos_flow (did, subject, kind, limit_id, key, priority, at, bounds)
  select case when own.granted_at is null then 'ASK' else 'GRANT' end, own.object_id, own.kind, own.limit_id, own.key, own.priority,
    coalesce(own.granted_at, clock_timestamp()), case when own.granted_at is not null then (
      select jsonb_build_object('max', l.max, 'isPaused', l.pause is not null, 'weights', l.weights,
        'usual', jsonb_build_object('maxPerKey', l.max_per_key, 'rateCount', l.rate_count, 'rateMs', l.rate_ms),
        'overridden', coalesce((
          select jsonb_object_agg(v.key, jsonb_build_object('maxPerKey', coalesce(v.max_per_key, l.max_per_key),
            'rateCount', coalesce(v.rate_count, l.rate_count), 'rateMs', coalesce(v.rate_ms, l.rate_ms)))
          from limit_override v where v.limit_id = l.id and v.until > own.granted_at), '{}'))
      from flow_limit l where l.id = own.limit_id) end;
  return null;
end $$;
create trigger chaos_ticket after insert or delete or update of granted_at on limit_ticket
  for each row execute function chaos_ticket();
create function chaos_pause() returns trigger language plpgsql as $$
begin
  insert into chaos_flow (did, subject, at)
  select case tg_op when 'INSERT' then 'PAUSE' else 'RESUME' end, case tg_op when 'INSERT' then new.root_id else old.root_id end,
    clock_timestamp();
  return null;
end $$;
create trigger chaos_pause after insert or delete on root_pause for each row execute function chaos_pause();
create function chaos_override() returns trigger language plpgsql as $$
declare
  own limit_override := case tg_op when 'DELETE' then old else new end;
begin
  insert into chaos_flow (did, subject, limit_id, key, at, until, bounds)
  values (case tg_op when 'DELETE' then 'OVERRIDE_ENDS' else 'OVERRIDE' end, own.limit_id, own.limit_id, own.key, clock_timestamp(), own.until,
    jsonb_build_object('maxPerKey', own.max_per_key, 'rateCount', own.rate_count, 'rateMs', own.rate_ms));
  return null;
end $$;
create trigger chaos_override after insert or update or delete on limit_override for each row execute function chaos_override()`

export const FLOW = `
  select did, subject as "objectId", subject as "rootId", kind, limit_id as "limitId", key, priority, at, bounds, until
  from chaos_flow order by n`
