-- A limit says what becomes of older workers and jobs with the key of a newer one, and how long it waits for newer ones.
alter table "flow_limit"
  add column "strategy" text not null default 'QUEUE',
  -- Null: it waits for none.
  add column "debounce_ms" integer;
alter table "limit_ticket"
  -- It starts no earlier. Null: its limit has no debounce.
  add column "not_before" timestamptz(3);
