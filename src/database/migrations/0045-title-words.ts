/** Finds notifications by the words of their titles (push/sql/notifications/title-words.ts). */

export const name = '0045-title-words';

export const sql = String.raw`
-- Each word has its client in front of it, so that a search reads no other client's notifications. The words are those of the title
-- that lists show. Separators are named one by one: what a letter is depends on the locale of the database.
create function notification_title_words(client_id integer, payload json) returns tsvector
language sql immutable parallel safe as $words$
  select array_to_tsvector(string_to_array(
    client_id::text || ':' || regexp_replace(
      lower(left(coalesce(payload ->> 'title', payload ->> 'message', payload ->> 'body'), 200)),
      '[\s\u0021-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u007e\u00a0\u00a1\u00ab\u00b7\u00bb\u00bf\u2000-\u206f\u3000-\u303f\uff01-\uff0f\uff1a-\uff1f]+',
      ' ' || client_id::text || ':',
      'g'
    ),
    ' '
  ))
$words$;
create index notifications_by_title_word on notifications using gin (notification_title_words(client_id, payload));
`;
