-- The next one of the key follows into the line: to its end if a ticket is granted, or in place of one that leaves. One that is granted
-- from behind takes the turn of its key, too: those that stand in the line for it wait for something else, and go to the end.
create or replace function "limit_ticket_leaves"() returns trigger language plpgsql volatile as $$
begin
  if old."place" is not null and (tg_op = 'DELETE' or new."granted_at" is not null) then
    update "limit_ticket" t set "place" = case tg_op when 'DELETE' then old."place" else nextval('limit_ticket_seq') end
      where (t."object_id", t."limit_id", t."key") = (
        select n."object_id", n."limit_id", n."key" from "limit_ticket" n where n."kind" = old."kind" and n."limit_id" = old."limit_id"
          and n."key" = old."key" and n."priority" = old."priority" and n."granted_at" is null and n."place" is null
        order by n."seq" limit 1);
  elsif tg_op = 'UPDATE' and old."granted_at" is null and new."granted_at" is not null then
    update "limit_ticket" t set "place" = nextval('limit_ticket_seq')
      where (t."object_id", t."limit_id", t."key") = (
        select n."object_id", n."limit_id", n."key" from "limit_ticket" n where n."kind" = old."kind" and n."limit_id" = old."limit_id"
          and n."key" = old."key" and n."priority" = old."priority" and n."place" is not null
        order by n."place" limit 1);
  elsif tg_op = 'DELETE' and old."granted_at" is not null then
    -- What an override keeps waiting does so no longer for time alone.
    update "limit_ticket" t set "due_at" = null where t."due_at" is not null and t."granted_at" is null
      and t."limit_id" = old."limit_id" and t."key" = old."key"
      and exists (select from "limit_override" v where v."limit_id" = old."limit_id" and v."key" = old."key");
  end if;
  return null;
end $$;
