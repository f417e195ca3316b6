-- People whom an OpenID Connect issuer signs in. Their rights come from the access policy, and are not stored.
alter table "principal" add column "issuer" text, add column "subject" text;
alter table "principal" add constraint "principal_identity_check" check (("issuer" is null) = ("subject" is null));
create unique index "principal_issuer_subject_key" on "principal" ("issuer", "subject");
