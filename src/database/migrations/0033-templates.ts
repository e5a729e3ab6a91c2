/**
 * An app may have a template on a platform, and a notification what templates have made of its
 * payload (decision 59).
 */

export const name = '0033-templates';

export const sql = `
-- Whether app_templates has a row. Here, because whoever accepts a push reads this table in any case.
alter table app_platforms add column has_template boolean not null default false;

-- A row apart, for app_platforms is written by registrations.
create table app_templates (
  app_id integer not null,
  platform_id smallint not null,
  expression text not null,
  updated_at timestamptz not null default now(),
  primary key (app_id, platform_id),
  foreign key (app_id, platform_id) references app_platforms on delete cascade
);

-- What its publisher gave, and what templates made of that by (app, platform). Null: no template concerns it.
alter table notifications add column templated json;
`;
