/** The contract of every sender, kept towards push services by our own HTTP/2. */

import t from 'tap';
import { webPushContract } from '../../../support/web-push-contract.ts';

webPushContract(t, 'http2');
