/**
 * A new database has what the migrations made, of which schema.sql took the place: the vector is
 * the catalogue of a database that they made.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { SqlPool } from '../../src/database/sql.ts';
import { onEachStore } from '../support/on-each-store.ts';
import { readCatalogue } from '../support/read-catalogue.ts';

/** From dist/test/database back to the root of the repository. */
const ROOT = join(import.meta.dirname, '..', '..', '..');

const GONE = [
  // When the devices of the app were counted, for versions before they were counted as they are
  // written. Databases that the migrations made still have it, and nothing reads it.
  'column app_platforms.subscribers_counted_at timestamp with time zone',
  // A migration after schema.sql drops it.
  "index CREATE INDEX notifications_under_way ON public.notifications USING btree (id) WHERE ((finished_at IS NULL) AND (state = ANY (ARRAY['RUNNING'::text, 'PAUSED'::text, 'CANCELLED'::text])))",
];

const [origin = '', ...made] = readFileSync(
  join(ROOT, 'test', 'vectors', 'schema', 'catalogue.txt'),
  'utf8',
)
  .trimEnd()
  .split('\n');
const expected = made.filter((line) => !GONE.includes(line));

/** The lines that migrations after schema.sql have added. */
const ADDED = [
  'column attribute_values.attribute_id integer not null',
  'column attribute_values.client_id integer not null',
  "column attribute_values.id integer not null default nextval('object_ids'::regclass)",
  'column attribute_values.last_set_at timestamp with time zone not null default now()',
  'column attribute_values.retired_at timestamp with time zone',
  'column attribute_values.value text not null',
  'column attributes.app_ids integer[]',
  'column attributes.client_id integer not null',
  'column attributes.created_at timestamp with time zone not null default now()',
  'column attributes.description text',
  "column attributes.id integer not null default nextval('object_ids'::regclass)",
  'column attributes.is_personal boolean not null',
  'column attributes.name text not null',
  'column attributes.set_by text not null',
  'column attributes.type text not null',
  'column bulk_operations.device_facets jsonb[]',
  'column bulk_operations.device_numbers jsonb[]',
  'column cap_places.app_id integer not null',
  'column cap_places.category text not null',
  'column cap_places.group_number integer not null',
  'column cap_places.last_at timestamp with time zone not null default clock_timestamp()',
  'column cap_places.notification_id uuid not null',
  'column cap_places.platform_id smallint not null',
  'column cap_places.returned bytea',
  'column cap_places.taken bytea not null',
  'column cap_places.withheld bytea',
  'column chunks.is_doubted boolean',
  'column chunks.reach_words bytea',
  'column chunks.rest_words bytea',
  'column chunks.wave_at timestamp with time zone',
  'column clients.policies jsonb',
  'column clients.settings jsonb',
  'column credential_health.refused_since timestamp with time zone',
  'column deleted_numbers.attribute_id integer not null',
  'column deleted_numbers.client_id integer not null',
  'column deleted_numbers.deleted_at timestamp with time zone not null default now()',
  'column devices.facet_ids integer[]',
  'column devices.numbers bytea',
  "column devices.registered_on date default ((now() AT TIME ZONE 'UTC'::text))::date",
  'column drafts.client_id integer not null',
  'column drafts.content json not null',
  'column drafts.created_at timestamp with time zone not null default now()',
  'column drafts.id integer not null identity a',
  'column drafts.name text not null',
  'column drafts.revision integer not null default 1',
  'column drafts.updated_at timestamp with time zone not null default now()',
  'column drafts.user_name text not null',
  'column moved_ordinals.app_id integer not null',
  'column moved_ordinals.from_ordinal integer not null',
  'column moved_ordinals.moved_at timestamp with time zone not null default now()',
  'column moved_ordinals.platform_id smallint not null',
  'column moved_ordinals.to_ordinal integer not null',
  'column nodes.newest_migration text',
  'column notification_paces.stage_left integer',
  'column notification_scopes.reach_noted bigint',
  'column notification_scopes.reach_words bytea',
  'column notification_scopes.reached bigint',
  'column notification_scopes.withheld bigint',
  'column notifications.awaited_by uuid',
  'column notifications.caps jsonb',
  'column notifications.category text',
  'column notifications.correction text',
  'column notifications.is_to_everybody boolean',
  'column notifications.next_wave_at timestamp with time zone',
  'column notifications.pause_after integer',
  'column notifications.rest_to uuid',
  'column notifications.retries uuid',
  'column notifications.retries_until timestamp with time zone',
  'column notifications.send_at_local text',
  'column notifications.sends_late boolean',
  'column notifications.stage_ended_at timestamp with time zone',
  'column push_reach.app_id integer not null',
  'column push_reach.group_number integer not null',
  'column push_reach.notification_id uuid not null',
  'column push_reach.platform_id smallint not null',
  'column push_reach.words bytea not null',
  'column push_wave_parts.app_id integer not null',
  'column push_wave_parts.at timestamp with time zone not null',
  'column push_wave_parts.notification_id uuid not null',
  'column push_wave_parts.platform_id smallint not null',
  'column push_wave_parts.total_before bigint not null',
  'column push_waves.at timestamp with time zone not null',
  'column push_waves.has_others boolean not null',
  'column push_waves.is_skipped boolean not null',
  'column push_waves.notification_id uuid not null',
  'column push_waves.zones text[] not null',
  "column reach_removal.ended_at timestamp with time zone not null default '-infinity'::timestamp with time zone",
  "column reach_removal.notification_id uuid not null default '00000000-0000-0000-0000-000000000000'::uuid",
  'column reach_removal.only_row boolean not null default true',
  'column retries.is_doubted boolean',
  'column retries.is_reached boolean',
  'column segments.client_id integer not null',
  'column segments.created_at timestamp with time zone not null default now()',
  'column segments.description text',
  'column segments.expression text not null',
  'column segments.name text not null',
  'column segments.updated_at timestamp with time zone not null default now()',
  'column test_devices.app_id integer not null',
  'column test_devices.client_id integer not null',
  'column test_devices.created_at timestamp with time zone not null default now()',
  'column test_devices.device_id text not null',
  'column test_devices.device_key uuid not null',
  'column test_devices.id integer not null identity a',
  'column test_devices.name text not null',
  'column test_devices.platform_id smallint not null',
  'constraint attribute_values attribute_values_client_id_attribute_id_value_key UNIQUE (client_id, attribute_id, value)',
  'constraint attribute_values attribute_values_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id) ON DELETE CASCADE',
  'constraint attribute_values attribute_values_pkey PRIMARY KEY (id)',
  'constraint attributes attributes_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id) ON DELETE CASCADE',
  'constraint attributes attributes_client_id_name_key UNIQUE (client_id, name)',
  'constraint attributes attributes_pkey PRIMARY KEY (id)',
  'constraint cap_places cap_places_pkey PRIMARY KEY (app_id, platform_id, group_number, notification_id)',
  'constraint deleted_numbers deleted_numbers_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id) ON DELETE CASCADE',
  'constraint deleted_numbers deleted_numbers_pkey PRIMARY KEY (attribute_id)',
  'constraint drafts drafts_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id) ON DELETE CASCADE',
  'constraint drafts drafts_pkey PRIMARY KEY (id)',
  'constraint moved_ordinals moved_ordinals_pkey PRIMARY KEY (app_id, platform_id, from_ordinal)',
  'constraint push_reach push_reach_notification_id_fkey FOREIGN KEY (notification_id) REFERENCES notifications(id) ON DELETE CASCADE',
  'constraint push_reach push_reach_pkey PRIMARY KEY (notification_id, app_id, platform_id, group_number)',
  'constraint push_wave_parts push_wave_parts_notification_id_fkey FOREIGN KEY (notification_id) REFERENCES notifications(id) ON DELETE CASCADE',
  'constraint push_wave_parts push_wave_parts_pkey PRIMARY KEY (notification_id, at, app_id, platform_id)',
  'constraint push_waves push_waves_notification_id_fkey FOREIGN KEY (notification_id) REFERENCES notifications(id) ON DELETE CASCADE',
  'constraint push_waves push_waves_pkey PRIMARY KEY (notification_id, at)',
  'constraint reach_removal reach_removal_only_row_check CHECK (only_row)',
  'constraint reach_removal reach_removal_pkey PRIMARY KEY (only_row)',
  'constraint segments segments_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id) ON DELETE CASCADE',
  'constraint segments segments_pkey PRIMARY KEY (client_id, name)',
  'constraint test_devices test_devices_app_id_platform_id_device_key_key UNIQUE (app_id, platform_id, device_key)',
  'constraint test_devices test_devices_app_id_platform_id_fkey FOREIGN KEY (app_id, platform_id) REFERENCES app_platforms(app_id, platform_id) ON DELETE CASCADE',
  'constraint test_devices test_devices_client_id_fkey FOREIGN KEY (client_id) REFERENCES clients(id) ON DELETE CASCADE',
  'constraint test_devices test_devices_pkey PRIMARY KEY (id)',
  'function note_moved_ordinal () returns trigger language plpgsql volatility v parallel u  begin insert into moved_ordinals as m (app_id, platform_id, from_ordinal, to_ordinal) select app_id, platform_id, from_ordinal, new.ordinal from moved_ordinals where app_id = old.app_id and platform_id = old.platform_id and to_ordinal = old.ordinal union all select old.app_id, old.platform_id, old.ordinal, new.ordinal on conflict (app_id, platform_id, from_ordinal) do update set to_ordinal = excluded.to_ordinal; return null; end',
  'index CREATE INDEX cap_places_by_age ON public.cap_places USING btree (last_at)',
  'index CREATE INDEX drafts_client ON public.drafts USING btree (client_id)',
  'index CREATE INDEX moved_ordinals_by_age ON public.moved_ordinals USING btree (moved_at)',
  'index CREATE INDEX moved_ordinals_by_place ON public.moved_ordinals USING btree (app_id, platform_id, to_ordinal)',
  'index CREATE INDEX notification_scopes_faults ON public.notification_scopes USING btree (notification_id) WHERE (fault IS NOT NULL)',
  'index CREATE INDEX notifications_next_wave ON public.notifications USING btree (next_wave_at) WHERE (next_wave_at IS NOT NULL)',
  'index CREATE INDEX notifications_retries ON public.notifications USING btree (retries) WHERE (retries IS NOT NULL)',
  'index CREATE INDEX test_devices_client ON public.test_devices USING btree (client_id)',
  'index CREATE UNIQUE INDEX attribute_values_client_id_attribute_id_value_key ON public.attribute_values USING btree (client_id, attribute_id, value)',
  'index CREATE UNIQUE INDEX attribute_values_pkey ON public.attribute_values USING btree (id)',
  'index CREATE UNIQUE INDEX attributes_client_id_name_key ON public.attributes USING btree (client_id, name)',
  'index CREATE UNIQUE INDEX attributes_pkey ON public.attributes USING btree (id)',
  'index CREATE UNIQUE INDEX cap_places_pkey ON public.cap_places USING btree (app_id, platform_id, group_number, notification_id)',
  'index CREATE UNIQUE INDEX deleted_numbers_pkey ON public.deleted_numbers USING btree (attribute_id)',
  'index CREATE UNIQUE INDEX drafts_pkey ON public.drafts USING btree (id)',
  'index CREATE UNIQUE INDEX moved_ordinals_pkey ON public.moved_ordinals USING btree (app_id, platform_id, from_ordinal)',
  'index CREATE UNIQUE INDEX push_reach_pkey ON public.push_reach USING btree (notification_id, app_id, platform_id, group_number)',
  'index CREATE UNIQUE INDEX push_wave_parts_pkey ON public.push_wave_parts USING btree (notification_id, at, app_id, platform_id)',
  'index CREATE UNIQUE INDEX push_waves_pkey ON public.push_waves USING btree (notification_id, at)',
  'index CREATE UNIQUE INDEX reach_removal_pkey ON public.reach_removal USING btree (only_row)',
  'index CREATE UNIQUE INDEX segments_pkey ON public.segments USING btree (client_id, name)',
  'index CREATE UNIQUE INDEX test_devices_app_id_platform_id_device_key_key ON public.test_devices USING btree (app_id, platform_id, device_key)',
  'index CREATE UNIQUE INDEX test_devices_pkey ON public.test_devices USING btree (id)',
  'sequence drafts_id_seq integer start 1 by 1 from 1 to 2147483647 cache 1 of drafts.id',
  'sequence test_devices_id_seq integer start 1 by 1 from 1 to 2147483647 cache 1 of test_devices.id',
  'table attribute_values r p replica identity d toast',
  'table attributes r p replica identity d toast',
  'table cap_places r p replica identity d toast',
  'table deleted_numbers r p replica identity d toast',
  'table drafts r p replica identity d toast',
  'table moved_ordinals r p replica identity d toast',
  'table push_reach r p replica identity d toast',
  'table push_wave_parts r p replica identity d toast',
  'table push_waves r p replica identity d toast',
  'table reach_removal r p replica identity d toast',
  'table segments r p replica identity d toast',
  'table test_devices r p replica identity d toast',
  'trigger enabled O CREATE TRIGGER client_policies_changed AFTER UPDATE OF policies ON public.clients FOR EACH STATEMENT EXECUTE FUNCTION raise_access_revision()',
  'trigger enabled O CREATE TRIGGER devices_moved AFTER UPDATE OF ordinal ON public.devices FOR EACH ROW WHEN ((old.ordinal <> new.ordinal)) EXECUTE FUNCTION note_moved_ordinal()',
];

/** Changes that the comparison has to find, each in one line of the catalogue. */
const DIFFERENCES: readonly (readonly [sql: string, line: RegExp])[] = [
  ['alter table chunks alter epoch set default 1', /^column chunks\.epoch integer/],
  ['alter table chunks alter last_failure type varchar(9)', /^column chunks\.last_failure/],
  ['alter table clients alter name drop not null', /^column clients\.name text$/],
  ['alter table clients alter name type text collate "C"', /^column clients\.name .+collate/],
  ['alter table devices alter device_id set storage external', /^column devices\.device_id/],
  ['alter table devices set (fillfactor = 84)', /^table devices .+\{fillfactor=84\}/],
  ['alter table chunks set (autovacuum_enabled = off)', /^table chunks .+autovacuum_enabled/],
  ['alter table nodes set unlogged', /^table nodes r u/],
  ['create index devices_by_age on devices (registered_at)', /^index .+devices_by_age/],
  ['alter index chunks_parked set (fillfactor = 50)', /^index .+chunks_parked .+fillfactor='50'/],
  ['alter table notifications add check (open_chunks >= 0)', /^constraint notifications .+_chunks/],
  ['alter sequence object_ids cache 9', /^sequence object_ids .+cache 9/],
  ['alter function end_sessions() security definer', /^function end_sessions .+definer/],
  ['alter table clients disable trigger clients_disabled', /^trigger enabled D .+clients_disabled/],
  ["create type colour as enum ('red')", /^type colour e/],
  ["comment on table chunks is 'parts'", /^comment table public\.chunks parts/],
];

const UNDONE = new Error('undone');

/** The catalogue with that change, which is undone. */
async function changedBy(sql: SqlPool, change: string): Promise<readonly string[]> {
  let changed: readonly string[] = [];
  const undone = sql.begin(async (tx) => {
    await tx.unsafe(change);
    changed = await readCatalogue(tx);
    throw UNDONE;
  });
  await undone.catch((error: unknown) => {
    if (error !== UNDONE) throw error;
  });
  return changed;
}

await onEachStore(t, {
  'the catalogue is the one that the migrations made': async (t, { sql }) => {
    t.match(origin, /^# What the 35 migrations of commit [0-9a-f]{40} made/);
    t.equal(made.length - expected.length, GONE.length, 'these are gone');
    const catalogue = await readCatalogue(sql);
    t.strictSame(
      catalogue.filter((line) => !ADDED.includes(line)),
      expected,
    );
    t.equal(catalogue.length - expected.length, ADDED.length, 'each that was added is there');
  },

  'each row that is there from the beginning': async (t, { sql }) => {
    for (const table of ['access_revision', 'session_revision']) {
      t.equal((await sql`select from ${sql(table)}`).length, 1, table);
    }
  },

  'the comparison finds what differs': async (t, { sql }) => {
    const unchanged = new Set(await readCatalogue(sql));
    for (const [change, line] of DIFFERENCES) {
      const changed = await changedBy(sql, change);
      const further = changed.filter((one) => !unchanged.has(one));
      t.match(further, [line], change);
      t.equal(further.length, 1);
    }
    for (const line of await changedBy(sql, 'drop index chunks_parked')) unchanged.delete(line);
    t.match([...unchanged], [/^index .+chunks_parked/], 'an index is gone');
  },
});
