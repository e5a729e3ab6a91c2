/** Who calls: what a checked credential says about a request. */

export interface Caller {
  /** An API user belongs to one app and speaks the App API; a super user belongs to one client and speaks the rest. */
  readonly role: 'api-user' | 'super-user';
  readonly clientId: number;
  readonly clientSlug: string;
  /** The app of an API user; null for a super user. */
  readonly appId: number | null;
  readonly userName: string;
  /** Basic is deprecated: answers on the Notification and Admin API say so. */
  readonly method: 'bearer' | 'basic';
}
