/** Descriptions of a payload, whose fields mean something to each provider, for OpenAPI. */

import type { payloadFields } from '../domain/payload.ts';

export const PAYLOAD_MEANINGS: Readonly<Record<keyof typeof payloadFields.shape, string>> = {
  title:
    'APNs: `aps.alert.title`. FCM: `notification.title`, and a copy in `data.title`. Web Push: `title`.',
  message:
    'APNs: `aps.alert.body`. FCM: `notification.body`, and a copy in `data.message`. Web Push: `body`.',
  url: 'APNs: beside `aps`. FCM: `data.url`. Web Push: `url`.',
  image:
    'APNs: beside `aps`, with `mutable-content`. FCM: `notification.image`, and a copy in `data.image`. Web Push: `image`.',
  badge: 'APNs: `aps.badge`. FCM: nothing. Web Push: `badge`.',
  sound: 'APNs: `aps.sound`. FCM: `android.notification.sound`. Web Push: `sound`.',
  ttl: 'In seconds. APNs: `apns-expiration`. FCM: `android.ttl`. Web Push: `TTL`; without one four weeks.',
  priority:
    'APNs: `apns-priority` 10 (`high`, the default) or 5; always 5 for the type `background`, always 10 for `pushtotalk`. FCM: `android.priority`. Web Push: `Urgency`, `high` by default.',
  collapseId:
    '64 bytes of printable ASCII. A later alert with it takes the place of the earlier one. APNs: `apns-collapse-id`. FCM: `android.collapse_key`, and `android.notification.tag`. Web Push: `Topic`, made of its hash, and `tag`. Both tags only where the alert is `replaceable` (`present`).',
  silent:
    'APNs: a `background` push with `content-available`, texts beside `aps`. FCM: data only. Web Push: `silent: true` and `Urgency` `low`; most browsers want each push to show something.',
  data: 'APNs: beside `aps`. FCM: `data`, every value a string; an entry called as a copy stands in its place. Web Push: `data`.',
  present: `How it is shown, on each platform that can; an object with none but these fields (anything else under this name is data). The same in all languages.
- \`interruption\` (\`passive\`, \`active\`, \`timeSensitive\`): APNs \`interruption-level\` (without the app's capability iOS shows \`timeSensitive\` as \`active\`); FCM \`android.notification.notification_priority\` low, default, high, and \`data.interruption\`; Web Push: \`passive\` is \`silent\` with the \`Urgency\` \`low\`, unless \`priority\` says otherwise.
- \`thread\`: APNs \`thread-id\`; FCM \`data.group\`.
- \`relevance\`, 0 to 1: APNs \`relevance-score\`.
- \`channel\`: FCM \`android.notification.channel_id\`; the app must have made it.
- \`subtitle\`: APNs \`alert.subtitle\`; FCM \`data.subtitle\`.
- \`actions\` (3 at most, \`id\`, \`title\`, \`url\`): FCM \`data.actions\` as JSON; Web Push \`actions\` with \`action\`, \`title\`, \`navigate\`. On iOS the app declares the buttons of a category.
- \`actionCategory\`: APNs \`category\`; FCM \`data.actionCategory\`.
- \`appBadge\`: the number on the app's icon. APNs \`badge\`, in place of the payload's; FCM \`notification_count\`; Web Push \`app_badge\`.
- \`mutable\`: the app may change it before it is shown. APNs \`mutable-content\`; Web Push \`mutable\`, for declarative messages.
- \`replaceable\`: the alert has an identity, its \`collapseId\` or else the id of the job: a message that is sent twice shows once, and a later one can take its place. APNs \`apns-collapse-id\`; FCM \`android.notification.tag\`; Web Push \`tag\` and \`Topic\`. Absent: it has one, unless the operator says otherwise (\`REPLACEABLE_DEFAULT\`) or the message is too large for it. \`true\`: then, too. \`false\`: never.

A silent push shows nothing: only what FCM has in \`data\` is sent of it.`,
  apnsPushType:
    'The `apns-push-type`, with its topic and size: the topic is the bundle id of the credential with the suffix of the type (`.voip`, `.complication`, `.location-query`, `.voip-ptt`). `background` is of a silent push. A key of a team may send all of them, unless Apple limits it to other topics: then sends end `TopicDisallowed`. Absent: `background` and priority 5 where the merged `aps` has `content-available` and no `alert`, `badge` or `sound`, else `alert`.',
  apns: 'Laid over what was made for APNs.',
  fcm: 'Laid over what was made for Android; a target in it (`token`, `topic`, …) is dropped.',
  webpush: 'Laid over what was made for Web Push.',
};

export const PAYLOAD_DESCRIPTION = `What the push shows and carries. Everything is optional, and null counts as absent. \
But a payload that shows nothing (no \`title\`, \`message\`, \`badge\`, \`sound\`, \`image\`, \`url\`, \`apns\`, \`fcm\`, \`webpush\`), is not \`silent\` and has no data is \`400\`. \
\`body\` is another name of \`message\`; any other field becomes an entry of \`data\`.

Every message carries \`pushId\`, the id of the job, so that the app knows which push it received: beside \`aps\`, in FCM's \`data\`, in the JSON of Web Push. An entry of that name is overwritten.

Numbers are passed on with the digits that were written, or refused: one that JavaScript would write with other digits (\`1234567890123456789\`, \`1.10\`, \`1e3\`), or a whole one beyond 2^53, is a \`400\` that names it, in \`data\`, further fields, texts, \`apns\`, \`fcm\` and \`webpush\`. Write it as a string. \
\`badge\` and \`ttl\` are read as numbers, in any form. An empty list where an object is meant (\`data\`, \`apns\`), as PHP writes it, is an empty object. What a template makes is held to the same.

What a provider would refuse for every device is \`400\`, for the platforms that the push goes to: names that FCM reserves in its data (\`from\`, \`message_type\`, \`google.…\`, \`gcm.notification.…\`, and \`google\`, \`gcm\` alone; in \`data\`, \`fcm.data\`, \`fcm.android.data\`), \`aps\` in \`data\`, \
FCM's own forms in an overlay (\`fcm.message\`, \`apns.headers\`, \`apns.payload\`, \`webpush.headers\`), \`fcm.android.collapseKey\` beside \`collapseId\`, an \`fcm.android.ttl\` that is not like \`"3600s"\`. What a phone will not do though it is valid (data alone, not silent, does nothing on iOS) is in \`warnings\`.

The rendered message is measured for each platform, without the token. Above 4,096 bytes (\`voip\` 5,120, Web Push 3,993, for it is encrypted) it is \`400\` with platform, size and limit. Copies (\`title\`, \`message\` and \`image\` in FCM's \`data\`; the declarative members) are left out when the message is too large only because of them.

A service worker receives one JSON object with those members that were given. With a \`title\` and a \`url\` that begins with \`http://\` or \`https://\`, and not \`silent\`, it is a declarative message ([Push API](https://www.w3.org/TR/push-api/)) too: \`"web_push": 8030\`, \`notification\` with \`title\`, \`navigate\` (the \`url\`) and what else a browser can show, and \`app_badge\`. \
Safari from 18.4 on shows it by itself; with \`"webpush": {"mutable": true}\` it asks the worker first. Other browsers hand it to the worker. A browser that registered with FCM gets data only, for current versions of Firebase's SDK would show a \`notification\` beside what the worker shows: \`title\`, \`message\`, \`url\`, \`image\`, \`tag\`, \`pushId\`, the entries of \`data\` and those of \`webpush\`, every value a string.`;
