-- The oldest migration that a program has to know to work with this database. A migration that takes away what the programs
-- before it use moves it on, in its own transaction; all others leave it alone.
create table "schema_range" (
  "one" boolean primary key default true check ("one"),
  "oldest" text not null
);
insert into "schema_range" ("oldest") values ('20261124040000_schema_range');
