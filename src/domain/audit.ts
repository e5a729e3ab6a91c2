/** The audit log: who has changed what of a client, when and from where (decision 54). */

/** Actions, with the kind of the object before the dot. The list of notifications shows pushes. */
export const AUDIT_ACTIONS = [
  'client.create',
  'client.disable',
  'client.enable',
  'client.limits',
  'client.settings',
  'client.policies',
  'client.delete',
  'app.create',
  'app.change',
  'app.delete',
  'provider-credential.put',
  'provider-credential.delete',
  'template.put',
  'template.delete',
  'tag.create',
  'tag.change',
  'tag.delete',
  'group.create',
  'group.change',
  'group.delete',
  'tags.change',
  'tags.expire',
  'credential.rotate',
  'key.create',
  'key.delete',
  'webhook.create',
  'webhook.change',
  // Turned off, because its receiver answered 410.
  'webhook.disable',
  'webhook.rotate',
  'webhook.replay',
  'webhook.delete',
  'member.invite',
  'member.join',
  'member.change',
  'member.delete',
  'member.reset',
  // A new one: changed, or set by a link.
  'member.password',
  'member.sign-in',
  // A wrong password: of an account from one network once in a while.
  'member.sign-in-refused',
  'attribute.create',
  'attribute.change',
  'attribute.delete',
  'device.erase',
  'device.import',
  'operation.create',
  'operation.cancel',
  'draft.create',
  'draft.change',
  'draft.delete',
  'segment.create',
  'segment.change',
  'segment.delete',
  'test-device.create',
  'test-device.delete',
  'notification.change',
  'notification.pause',
  'notification.resume',
  'notification.cancel',
  'notification.replace',
  'notification.retry',
  'notification.correct',
  'notification.retract',
  'notification.release-deletions',
  'notification.discard-deletions',
  'notification.release-parked',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

export type AuditActor =
  /** A super user, by the user name of its credential. */
  | { readonly kind: 'credential'; readonly name: string }
  /** A further key of the client. It is logged under the name that its owner gave it. */
  | { readonly kind: 'key'; readonly id: number }
  /** A member of the client in the console, by the e-mail address of the account. */
  | { readonly kind: 'account'; readonly id: number; readonly name: string }
  /** A person who runs the engine. The client does not learn which. */
  | { readonly kind: 'operator' }
  /** No person: the engine does it by itself; or an unknown one, as with a wrong password. */
  | { readonly kind: 'engine' };

export interface AuditOrigin {
  readonly clientId: number;
  readonly actor: AuditActor;
  /** Null: a command on the engine's machine. */
  readonly address: string | null;
  readonly requestId: string | null;
}

/** Names of fields, counts, terms: bounded, never a secret, never a deviceId. */
export type AuditDetail = Readonly<
  Record<string, string | number | boolean | readonly string[] | undefined>
>;

export interface AuditedChange {
  readonly action: AuditAction;
  /** The id of the object. Null: it has none, or there are several. */
  readonly id: number | string | null;
  /** The name at that time. */
  readonly name: string | null;
  readonly detail?: AuditDetail;
}

/** The kind of the object that an action is done to. */
export const objectKindOf = (action: AuditAction): string => action.split('.', 1)[0] ?? '';

export const changedFields = <T extends object>(before: T, after: T): readonly (keyof T)[] =>
  (Object.keys(after) as (keyof T)[]).filter(
    (field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]),
  );
